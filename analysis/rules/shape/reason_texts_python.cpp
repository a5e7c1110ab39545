// What is said of the reasons of Python, as the interpreter runs it, and of its library.
#include "rules/shape/reason_texts.hpp"

namespace stepzero::rules {

namespace {

using interpreter::Reason;

constexpr ReasonText python_texts[] = {
    {Reason::range_of_text, "`range` takes integers, but \"{}\" is a string: `TypeError`"},
    {Reason::default_of_get, "`{}` has no key `{}`, so that `get` gives its default. It has `{}`"},
    {Reason::item_beyond, "{} has {*item}: reading index {} raises `IndexError`"},
    {Reason::no_self, "{} is called on an object and takes no `self`"},
    {Reason::argument_twice, "{} is given its argument `{}` twice"},
    {Reason::missing_arguments, "{} is called without its {?arguments:argument} {}"},
    {Reason::no_field, "{} has no field `{}` that is given to it"},
    {Reason::other_field, "{} has no field `{}`. Did you mean `{}`?"},
    {Reason::missing_field, "{} is made without its field `{}`"},
    {Reason::no_constructor,
        "`{}` takes no arguments: neither it nor what it derives from has a constructor"},
    {Reason::not_callable, "{} is {}, which cannot be called: Python raises `TypeError`"},
    {Reason::method_items, "`{}` is a method, which has no items: Python raises `TypeError`. Call it"},
    {Reason::attribute_of_display,
        "`{}` is a {}, which has no attribute `{}`{?, unless a class derived from this one gives something else}: reading it raises `AttributeError`"},
    {Reason::attribute_of_object,
        "`{}` is of the class `{}`, which has no attribute `{}`{?, unless code that is not seen sets it}: reading it raises `AttributeError`. Set it before it is read"},
    {Reason::other_attribute,
        "`{}` is of the class `{}`, which has no attribute `{}`{?, unless code that is not seen sets it}: reading it raises `AttributeError`. Did you mean `{}`?"},
    {Reason::assigned_before_init,
        "`{}` is assigned before `super().__init__()` was called: Python raises \"cannot assign {?parameters:module} before Module.__init__() call\""},
    {Reason::parameter_replaced,
        "`{}` is a parameter, and a plain tensor takes its place: \"cannot assign ... as parameter '{}' ({} or None expected)\". Wrap it in `{}`, or copy it into the parameter under `{}`"},
    {Reason::truth_of_many,
        "{} has shape {}: it is true or false only with one element, and Python raises \"Boolean value of Tensor with more than one value is ambiguous\". Ask for `.all()`, `.any()` or one number"},
    {Reason::unbound_name, "`{}` is read before it is bound"},
    {Reason::annotated, "{} is annotated as `{}`, but has shape {}"},
    {Reason::not_declared, "No parser declares `{}`: reading it raises `AttributeError`. Add the argument"},
    {Reason::declared_otherwise,
        "No parser declares `{}`: reading it raises `AttributeError`. Did you mean `{}`?"},
    {Reason::part_of_command,
        "Part {} of the command is {}, but a command takes only strings: \"expected str, bytes or os.PathLike object\". Wrap it in `str(…)`"},
    {Reason::port_of_store,
        "There is no port {}: the highest is 65535, so the store cannot be created. Choose a lower port"},
    {Reason::port_of_group,
        "There is no port {}: the highest is 65535, so `init_process_group` cannot listen there. Choose a lower port"},
    {Reason::variable_kind,
        "{} is set to {}, but environment variables hold strings: \"str expected, not {}\". Wrap it in `str(…)`"},
    {Reason::port_of_variable,
        "`MASTER_PORT` is {}, but the highest port is 65535: `init_process_group` cannot listen there. Choose a lower port"},
    {Reason::bool_of_text,
        "`type=bool` takes any string as true: with `--{} False` the option is true. Use `action=\"store_true\"`, or `argparse.BooleanOptionalAction`"},
    {Reason::flag_always_on,
        "`store_true` with `default=True` is always on: nothing on the command line switches `{}` off. Use `action=argparse.BooleanOptionalAction`"},
};
static_assert(is_complete(python_texts));

}  // namespace

std::span<const ReasonText> texts_of_python() { return python_texts; }

}  // namespace stepzero::rules
