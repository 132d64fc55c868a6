"""The shapes of reports: SARIF 2.1.0 and JUnit, as far as those who read them insist."""

from typing import Any

_TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
_LEVEL = {"enum": ["none", "note", "warning", "error"]}

SARIF: dict[str, Any] = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/run"}},
    },
    "additionalProperties": False,
    "$defs": {
        "run": {
            "type": "object",
            "required": ["tool", "results"],
            "properties": {
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "properties": {
                        "driver": {
                            "type": "object",
                            "required": ["name", "rules"],
                            "properties": {
                                "name": {"type": "string", "minLength": 1},
                                "informationUri": {"type": "string", "format": "uri"},
                                "rules": {
                                    "type": "array",
                                    "uniqueItems": True,
                                    "items": {"$ref": "#/$defs/rule"},
                                },
                            },
                        }
                    },
                },
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
        },
        "rule": {
            "type": "object",
            "required": ["id"],
            "properties": {
                "id": {"type": "string", "minLength": 1},
                "shortDescription": _TEXT,
                "fullDescription": _TEXT,
                "helpUri": {"type": "string", "format": "uri"},
                "defaultConfiguration": {"type": "object", "properties": {"level": _LEVEL}},
            },
        },
        "result": {
            "type": "object",
            "required": ["message"],
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": -1},
                "level": _LEVEL,
                "message": _TEXT,
                "locations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "physicalLocation": {
                                "type": "object",
                                "properties": {
                                    "artifactLocation": {
                                        "type": "object",
                                        "properties": {"uri": {"type": "string", "format": "uri-reference"}},
                                    },
                                    "region": {
                                        "type": "object",
                                        "properties": {"startLine": {"type": "integer", "minimum": 1}},
                                    },
                                },
                            }
                        },
                    },
                },
                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                "suppressions": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["kind"],
                        "properties": {"kind": {"enum": ["inSource", "external"]}},
                    },
                },
                "baselineState": {"enum": ["new", "unchanged", "updated", "absent"]},
            },
        },
    },
}
"""OASIS SARIF 2.1.0, sections 3.13 to 3.58: the properties that matter here, with what is required of them."""


def _attributes(names: str, kind: str = "string", use: str = "optional") -> str:
    return "".join(f'<xs:attribute name="{name}" type="xs:{kind}" use="{use}"/>' for name in names.split())


def _elements(names: str, kind: str) -> str:
    return "".join(
        f'<xs:element name="{name}" type="{kind}" minOccurs="0" maxOccurs="unbounded"/>'
        for name in names.split()
    )


_COUNTS = "failures errors skipped"
JUNIT = f"""
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:complexType name="outcome" mixed="true">{_attributes("message type")}</xs:complexType>
  <xs:complexType name="property" mixed="true">{_attributes("name value")}</xs:complexType>
  <xs:complexType name="properties"><xs:sequence>{_elements("property", "property")}</xs:sequence></xs:complexType>
  <xs:complexType name="case">
    <xs:choice minOccurs="0" maxOccurs="unbounded">
      {_elements("skipped error failure", "outcome")}
      {_elements("system-out system-err", "xs:string")}
      {_elements("properties", "properties")}
    </xs:choice>
    {_attributes("name", use="required")}{_attributes("classname file")}{_attributes("time", "decimal")}
    {_attributes("line", "positiveInteger")}{_attributes("assertions", "nonNegativeInteger")}
  </xs:complexType>
  <xs:complexType name="suite">
    <xs:sequence>
      {_elements("properties", "properties")}{_elements("testcase", "case")}
      {_elements("system-out", "xs:string")}{_elements("system-err", "xs:string")}
    </xs:sequence>
    {_attributes("name", use="required")}{_attributes("tests", "nonNegativeInteger", use="required")}
    {_attributes(_COUNTS, "nonNegativeInteger")}{_attributes("time", "decimal")}{_attributes("timestamp", "dateTime")}
    {_attributes("hostname id package")}
  </xs:complexType>
  <xs:element name="testsuite" type="suite"/>
  <xs:element name="testsuites">
    <xs:complexType>
      <xs:sequence>{_elements("testsuite", "suite")}</xs:sequence>
      {_attributes("name")}{_attributes("time", "decimal")}{_attributes("tests " + _COUNTS, "nonNegativeInteger")}
    </xs:complexType>
  </xs:element>
</xs:schema>
"""
"""What Ant, Maven and Jenkins agree on."""
