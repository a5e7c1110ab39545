"""Says whether a message is what the protocol's own model (metaModel.json) allows. Knows the model's language of types
and no feature of the protocol. Proposed and deprecated parts of the model count as parts of it; a property that the
model does not name is an error, for what it calls LSPAny aside."""

import json
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent


def find():
    """The model's path, fetched if need be; raises with what the fetch said."""
    run = subprocess.run([str(HERE / "fetch_metamodel")], capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        raise FileNotFoundError(f"The protocol's model could not be fetched:\n{run.stderr}")
    return Path(run.stdout.strip())


class Model:
    def __init__(self, path):
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        self.version = data["metaData"]["version"]
        self.structures = {s["name"]: s for s in data["structures"]}
        self.enumerations = {e["name"]: e for e in data["enumerations"]}
        self.aliases = {a["name"]: a for a in data["typeAliases"]}
        self.requests = {r["method"]: r for r in data["requests"]}
        self.notifications = {n["method"]: n for n in data["notifications"]}
        self._properties = {}

    # ------------------------------------------------------------ messages

    def check_request(self, method, params):
        """Faults of a request that the server sends."""
        return self._check_params(self.requests.get(method), method, params)

    def check_notification(self, method, params):
        return self._check_params(self.notifications.get(method), method, params)

    def check_result(self, method, result):
        """Faults of the server's answer to a request of the client."""
        request = self.requests.get(method)
        if request is None:
            return [f"{method}: a result for a request that the protocol does not have"]
        faults = self.check(request["result"], result, "result")
        return [f"{method}: {f}" for f in faults]

    def check_error(self, error):
        if not isinstance(error, dict) or set(error) - {"code", "message", "data"}:
            return [f"error: {error!r} is no ResponseError"]
        faults = []
        if not _is_integer(error.get("code")):
            faults.append(f"error.code: {error.get('code')!r} is no integer")
        if not isinstance(error.get("message"), str) or not error.get("message"):
            faults.append(f"error.message: {error.get('message')!r} is no text")
        return faults

    def _check_params(self, entry, method, params):
        if entry is None:
            return [f"{method}: the protocol has no such method"]
        if entry["messageDirection"] == "clientToServer":
            return [f"{method}: goes from the client to the server only"]
        if "params" not in entry:
            return [] if params in (None, [], {}) else [f"{method}: has no params, but {params!r} was sent"]
        return [f"{method}: {f}" for f in self.check(entry["params"], params, "params")]

    # ------------------------------------------------------------ types

    def check(self, kind, value, where):
        """Faults of `value` as the model's type `kind`: a list of texts, empty if there are none."""
        return getattr(self, "_check_" + kind["kind"])(kind, value, where)

    def check_named(self, name, value, where="value"):
        return self.check({"kind": "reference", "name": name}, value, where)

    def _check_base(self, kind, value, where):
        name = kind["name"]
        good = {
            "string": lambda: isinstance(value, str),
            "URI": lambda: isinstance(value, str) and ":" in value,
            "DocumentUri": lambda: isinstance(value, str) and ":" in value,
            "boolean": lambda: isinstance(value, bool),
            "null": lambda: value is None,
            "integer": lambda: _is_integer(value) and -(2**31) <= value < 2**31,
            "uinteger": lambda: _is_integer(value) and 0 <= value < 2**31,
            "decimal": lambda: isinstance(value, (int, float)) and not isinstance(value, bool),
            "RegExp": lambda: isinstance(value, str),
        }[name]()
        return [] if good else [f"{where}: {_short(value)} is no {name}"]

    def _check_reference(self, kind, value, where):
        name = kind["name"]
        if name == "LSPAny":
            return []
        if name == "LSPObject":
            return [] if isinstance(value, dict) else [f"{where}: {_short(value)} is no object"]
        if name == "LSPArray":
            return [] if isinstance(value, list) else [f"{where}: {_short(value)} is no array"]
        if name in self.aliases:
            return self.check(self.aliases[name]["type"], value, where)
        if name in self.enumerations:
            return self._check_enumeration(self.enumerations[name], value, where)
        return self._check_properties(self.properties(name), value, where, name)

    def _check_enumeration(self, enumeration, value, where):
        faults = self.check(enumeration["type"], value, where)
        if faults or enumeration.get("supportsCustomValues"):
            return faults
        known = [v["value"] for v in enumeration["values"]]
        return [] if value in known else [f"{where}: {_short(value)} is no {enumeration['name']}"]

    def _check_array(self, kind, value, where):
        if not isinstance(value, list):
            return [f"{where}: {_short(value)} is no array"]
        return [f for i, v in enumerate(value) for f in self.check(kind["element"], v, f"{where}[{i}]")]

    def _check_tuple(self, kind, value, where):
        if not isinstance(value, list) or len(value) != len(kind["items"]):
            return [f"{where}: {_short(value)} is no array of {len(kind['items'])}"]
        return [f for i, (k, v) in enumerate(zip(kind["items"], value)) for f in self.check(k, v, f"{where}[{i}]")]

    def _check_map(self, kind, value, where):
        if not isinstance(value, dict):
            return [f"{where}: {_short(value)} is no map"]
        faults = []
        for key, item in value.items():
            typed = key
            if kind["key"].get("name") in ("integer", "uinteger"):
                typed = int(key) if key.lstrip("-").isdigit() else key
            faults += self.check(kind["key"], typed, f"{where}: key {key!r}")
            faults += self.check(kind["value"], item, f"{where}[{key!r}]")
        return faults

    def _check_or(self, kind, value, where):
        best = None
        for item in kind["items"]:
            faults = self.check(item, value, where)
            if not faults:
                return []
            if best is None or _depth(faults) > _depth(best):
                best = faults  # the alternative that went furthest explains most
        return best

    def _check_and(self, kind, value, where):
        properties = {}
        for item in kind["items"]:
            properties.update(self.properties(item["name"]))
        return self._check_properties(properties, value, where, "&".join(i["name"] for i in kind["items"]))

    def _check_literal(self, kind, value, where):
        properties = {p["name"]: p for p in kind["value"]["properties"]}
        return self._check_properties(properties, value, where, "literal")

    def _check_stringLiteral(self, kind, value, where):
        return [] if value == kind["value"] else [f"{where}: {_short(value)} is not {kind['value']!r}"]

    _check_integerLiteral = _check_stringLiteral
    _check_booleanLiteral = _check_stringLiteral

    def properties(self, name):
        """All properties of a structure, those of what it extends and mixes in included."""
        if name not in self._properties:
            structure = self.structures[name]
            properties = {}
            for base in structure.get("extends", []) + structure.get("mixins", []):
                properties.update(self.properties(base["name"]))
            properties.update({p["name"]: p for p in structure["properties"]})
            self._properties[name] = properties
        return self._properties[name]

    def _check_properties(self, properties, value, where, name):
        if not isinstance(value, dict):
            return [f"{where}: {_short(value)} is no {name}"]
        faults = [f"{where}.{key}: a {name} has no such property" for key in value if key not in properties]
        for key, prop in properties.items():
            if key in value:
                faults += self.check(prop["type"], value[key], f"{where}.{key}")
            elif not prop.get("optional"):
                faults.append(f"{where}.{key}: is missing in a {name}")
        return faults


def _is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _depth(faults):
    return max(f.split(":")[0].count(".") + f.split(":")[0].count("[") for f in faults)


def _short(value):
    text = json.dumps(value)
    return text if len(text) < 80 else text[:77] + "..."
