// What did not happen because of what. Internal to inspect.
#pragma once

#include "datum/inspect/pass_story.hpp"

namespace datum::inspect {

// Fills every action's `chain` and the story's `first_failure`.
void find_chains(PassStory& story);

}  // namespace datum::inspect
