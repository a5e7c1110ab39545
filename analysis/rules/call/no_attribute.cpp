// call/no-attribute: an attribute is read that no object of the class has.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::call::no_attribute {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::no_attribute, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "call/no-attribute",
    .severity = Severity::error,
    .summary = "an attribute or method is asked of an object whose class has none of that name",
    .why =
        "A letter that is wrong in `self.hidden_size` is no error of Python's before the line runs: in a forward after the model was built, in an evaluation after the first "
        "epoch, in the saving at the end of the job. Then it raises `AttributeError`.",
    .wrong = "class Net(nn.Module):\n"
             "    def __init__(self, width):\n"
             "        super().__init__()\n"
             "        self.decoder = nn.Linear(width, 2)\n"
             "\n"
             "    def forward(self, x):\n"
             "        return self.decoderr(x)\n",
    .right = "class Net(nn.Module):\n"
             "    def __init__(self, width):\n"
             "        super().__init__()\n"
             "        self.decoder = nn.Linear(width, 2)\n"
             "\n"
             "    def forward(self, x):\n"
             "        return self.decoder(x)\n",
    .silent =
        "Names that are set anywhere in the program, on whatever object, or written as a string; classes with `__getattr__`, `__slots__`, a metaclass or bases that are not seen; setattr with "
        "names that are computed, in the module of the class; `hasattr`, `getattr` and `try`; names that begin with an underscore; of objects that nobody constructs here, names unlike all that they have.",
    .fix =
        "Writes the name that was probably meant, where there is one: that is a guess, and needs a decision.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::call::no_attribute
