// The text of a flat module that does not depend on how its values are named and numbered.
#pragma once

#include <string>
#include <vector>

#include "opt/specialise.h"

namespace axon::opt {

std::string binding_text(const Specialised& flat, TypeTable& types,
                         const std::vector<graph::ValueId>& results);

}  // namespace axon::opt
