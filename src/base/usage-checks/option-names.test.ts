import { describe, expect, it } from "vitest";
import { defineOptionNames, pickOptions } from "./option-names.ts";

const assertKnownOptions = defineOptionNames<{ store?: string; port?: number; host?: string }>()(
  "serve",
  "store port",
  "host",
);

describe("option names", () => {
  it.each([undefined, {}, { store: "memory" }, { port: 1, host: undefined }])("accept %j", (options) => {
    expect(() => assertKnownOptions(options)).not.toThrow();
  });

  it.each([
    [{ stroe: 1 }, 'serve has no option "stroe". Did you mean store?'],
    [{ hos: 1, prt: 2 }, 'Did you mean host? serve has no option "prt". Did you mean port?'],
    [{ verbose: true }, 'serve has no option "verbose". Its options are store, port, host.'],
    ["memory", "The options of serve must be an object, not a value of type string."],
    [null, "The options of serve must be an object, not a value of type null."],
  ])("refuse %j", (options, message) => {
    expect(() => assertKnownOptions(options)).toThrow(new TypeError(message, {}).message);
  });

  it("that differ from the type do not compile", () => {
    // @ts-expect-error -- "port" is missing
    expect(defineOptionNames<{ store?: string; port?: number }>()("serve", "store")).toBeDefined();
    // @ts-expect-error -- "host" is unknown
    expect(defineOptionNames<{ store?: string }>()("serve", "store host")).toBeDefined();
  });

  it("select the options of one of several functions", () => {
    expect(pickOptions<object>({ store: 1, port: 2, other: 3 }, "store", "port host")).toEqual({
      store: 1,
      port: 2,
    });
  });
});
