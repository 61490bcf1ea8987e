import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../protocol/index.ts";
import { listSchemaFields, readForm, type SchemaField } from "./schema-fields.ts";

const readFields = (properties: JsonObject, required: string[] = []): SchemaField[] =>
  listSchemaFields({ type: "object", properties, required }) ?? [];

describe("a form from a JSON Schema", () => {
  it("has one field per property, in order, with the input of its type", () => {
    const fields = readFields({
      name: { type: "string", title: "Your name" },
      mail: { type: "string", format: "email" },
      age: { type: "integer", minimum: 0 },
      isNew: { type: "boolean" },
      size: { enum: ["S", "L"] },
      color: { oneOf: [{ const: "r", title: "Red" }, { const: "b" }] },
      days: { type: "array", items: { enum: [1, 2] } },
      other: { type: "object" },
    });
    expect(fields.map(({ title, input }) => [title, input.type])).toEqual([
      ["Your name", "text"],
      ["mail", "text"],
      ["age", "number"],
      ["isNew", "checkbox"],
      ["size", "choice"],
      ["color", "choice"],
      ["days", "choices"],
      ["other", "json"],
    ]);
    expect(fields[5]?.input).toEqual({
      type: "choice",
      options: [
        { value: "r", title: "Red" },
        { value: "b", title: "b" },
      ],
    });
  });

  it("reads types in upper case, as Google's libraries write them", () => {
    expect(readFields({ amount: { type: "NUMBER" } })[0]?.input.type).toBe("number");
  });

  it("omits empty optional fields, and reports empty required fields", () => {
    const fields = readFields({ a: { type: "string" }, b: { type: "number" } }, ["b"]);
    expect(readForm(fields, { a: "", b: "" })).toEqual({ problems: { b: "A value is required." } });
    expect(readForm(fields, { b: "2.5" })).toEqual({ value: { b: 2.5 } });
  });

  it.each([
    ["1.5", "The number must be an integer."],
    ["0", "The number must be at least 1."],
    ["9", "The number must be at most 5."],
    ["many", "The text is not a number."],
  ])("rejects %s for an integer from 1 to 5", (entry, problem) => {
    const fields = readFields({ n: { type: "integer", minimum: 1, maximum: 5 } });
    expect(readForm(fields, { n: entry })).toEqual({ problems: { n: problem } });
  });

  it.each([
    ["email", "nope", "The text is not an email address."],
    ["email", "a@example.com", undefined],
    ["uri", "nope", "The text is not a URL."],
    ["uri", "urn:isbn:0451450523", undefined],
  ])("checks the format %s of the text %s", (format, entry, problem) => {
    const fields = readFields({ f: { type: "string", format } });
    expect(readForm(fields, { f: entry })).toEqual(
      problem === undefined ? { value: { f: entry } } : { problems: { f: problem } },
    );
  });

  it("keeps any name of a property, such as __proto__", () => {
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom("__proto__", "constructor"), fc.string()), (name) => {
        const properties = JSON.parse(`{${JSON.stringify(name)}: {"type": "boolean"}}`) as JsonObject;
        const [field] = readFields(properties);
        expect(field?.name).toBe(name);
        const read = readForm(
          field ? [field] : [],
          JSON.parse(`{${JSON.stringify(name)}: true}`) as Record<string, boolean>,
        );
        expect(JSON.stringify(read)).toBe(`{"value":{${JSON.stringify(name)}:true}}`);
      }),
    );
  });

  it("has at most 200 fields and 1,000 choices", () => {
    const listFields = (count: number) =>
      listSchemaFields({
        properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, {}])),
      });
    expect([listFields(200)?.length, listFields(201)]).toEqual([200, undefined]);
    const values = Array.from({ length: 1_001 }, (_, at) => at);
    const fields = readFields({
      few: { enum: values.slice(1) },
      many: { enum: values },
      alternatives: { oneOf: values.map((value) => ({ const: value })) },
    });
    expect(fields.map(({ input }) => input.type)).toEqual(["choice", "json", "json"]);
  });

  it("never throws for the schema of a stranger", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (properties, required) => {
        const schema = JSON.parse(JSON.stringify({ type: "object", properties, required })) as JsonObject;
        const read = readForm(listSchemaFields(schema) ?? [], {});
        expect(Object.keys(read)).toHaveLength(1);
      }),
    );
  });
});
