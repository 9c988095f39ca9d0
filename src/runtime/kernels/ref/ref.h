// The reference kernels: plain loops, the specification of every operation (style: the readable
// form).
#pragma once

#include "runtime/core/kernel.h"

namespace axon::runtime::ref {

// products
void linear(const KernelArgs& args, int part, int parts);
void expert_linear(const KernelArgs& args, int part, int parts);
void matmul(const KernelArgs& args, int part, int parts);
void quantize_rows(const KernelArgs& args, int part, int parts);
int64_t linear_workspace(const KernelArgs& args, int parts);
// rows of tables
void embedding(const KernelArgs& args, int part, int parts);
int64_t embedding_workspace(const KernelArgs& args, int parts);
void select_rows(const KernelArgs& args, int part, int parts);
// norms, rotary, attention
void rms_norm(const KernelArgs& args, int part, int parts);
void layer_norm(const KernelArgs& args, int part, int parts);
void rope(const KernelArgs& args, int part, int parts);
void attention(const KernelArgs& args, int part, int parts);
int64_t attention_workspace(const KernelArgs& args, int parts);
void store_write(const KernelArgs& args, int part, int parts);
// elementwise and layout
void unary(const KernelArgs& args, int part, int parts);
void binary(const KernelArgs& args, int part, int parts);
void binary_scalar(const KernelArgs& args, int part, int parts);
void where(const KernelArgs& args, int part, int parts);
void copy(const KernelArgs& args, int part, int parts);  // also cast
void fill(const KernelArgs& args, int part, int parts);
void arange(const KernelArgs& args, int part, int parts);
void clamp(const KernelArgs& args, int part, int parts);
void repeat_axis(const KernelArgs& args, int part, int parts);
void assign_slice(const KernelArgs& args, int part, int parts);
// reductions, sorting, gather and scatter
void reduce(const KernelArgs& args, int part, int parts);
void cumsum(const KernelArgs& args, int part, int parts);
void softmax(const KernelArgs& args, int part, int parts);
void topk(const KernelArgs& args, int part, int parts);
void argsort(const KernelArgs& args, int part, int parts);
int64_t sort_workspace(const KernelArgs& args, int parts);
void gather(const KernelArgs& args, int part, int parts);
void scatter(const KernelArgs& args, int part, int parts);
void scatter_reduce(const KernelArgs& args, int part, int parts);
void index_add(const KernelArgs& args, int part, int parts);
void conv1d(const KernelArgs& args, int part, int parts);
// random numbers, activations with parameters
void random(const KernelArgs& args, int part, int parts);
void gegelu(const KernelArgs& args, int part, int parts);
void xielu(const KernelArgs& args, int part, int parts);

// The scalar functions, shared with faster kernels as their meaning.
float activate(Activation activation, float x);
float apply_unary(UnaryCode code, float x);

}  // namespace axon::runtime::ref
