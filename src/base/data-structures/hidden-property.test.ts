import { expect, it } from "vitest";
import { HiddenProperty } from "./hidden-property.ts";

it("keeps a value for an object, and not for its copies", () => {
  const property = new HiddenProperty<string>();
  const owner = { name: "a" };
  property.set(owner, "first");
  property.set(owner, "second");
  expect(property.get(owner)).toBe("second");
  expect(Reflect.ownKeys({ ...owner })).toEqual(["name"]);
  expect(property.get(structuredClone(owner))).toBeUndefined();
  expect(JSON.stringify(owner)).toBe('{"name":"a"}');
});

it("does not read the values of another property", () => {
  const owner = {};
  new HiddenProperty<string>().set(owner, "value");
  expect(new HiddenProperty<string>().get(owner)).toBeUndefined();
});

it("ignores values of frozen objects", () => {
  const property = new HiddenProperty<string>();
  const owner = Object.freeze({});
  property.set(owner, "value");
  expect(property.get(owner)).toBeUndefined();
});
