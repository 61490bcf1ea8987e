import { describe, expect, it } from "vitest";
import { negotiateVersion, type VersionNegotiationInput } from "./version-negotiation.ts";

function negotiateWithDefaults(request: Partial<VersionNegotiationInput>): string {
  const defaults = { header: undefined, query: undefined, whenMissing: "0.3" } as const;
  return negotiateVersion({ ...defaults, supported: ["1.0"], ...request });
}

describe("the version of a request", () => {
  it("comes from the header, or from the query if there is no header [B-02]", () => {
    expect(negotiateWithDefaults({ header: "1.0" })).toBe("1.0");
    expect(negotiateWithDefaults({ query: "1.0" })).toBe("1.0");
    expect(negotiateWithDefaults({ header: "", query: "1.0" })).toBe("1.0");
    expect(negotiateWithDefaults({ header: "0.3", query: "1.0", supported: ["1.0", "0.3"] })).toBe("0.3");
  });

  it("ignores the patch and surrounding whitespace [B-03]", () => {
    for (const header of ["1.0.1", "1.0.99", " 1.0 ", "\t1.0.0"])
      expect(negotiateWithDefaults({ header })).toBe("1.0");
  });

  it.each(["99.0", "1.1", "2.0", "1", "01.0", "abc", "1.0, 0.3", "1.0.x", "v1.0", "-1.0", "1.00"])(
    "%s is not supported, and the error lists the supported versions [B-04] [B-08]",
    (header) => {
      expect(() => negotiateWithDefaults({ header, query: "1.0", supported: ["1.0", "0.3"] })).toThrow(
        /supported: 1.0, 0.3/,
      );
    },
  );

  it("defaults to 0.3 [B-05]", () => {
    expect(negotiateWithDefaults({ supported: ["1.0", "0.3"] })).toBe("0.3");
    expect(negotiateWithDefaults({ header: " ", supported: ["1.0", "0.3"], inferredVersion: "1.0" })).toBe(
      "0.3",
    );
    expect(() => negotiateWithDefaults({})).toThrow(/send "A2A-Version: 1.0"/);
  });

  it("is inferred from the request if that is configured [B-07]", () => {
    expect(negotiateWithDefaults({ whenMissing: "infer", inferredVersion: "1.0" })).toBe("1.0");
    expect(() => negotiateWithDefaults({ whenMissing: "infer" })).toThrow(/means 0.3/);
  });

  it("is rejected with VERSION_NOT_SUPPORTED [B-04]", () => {
    expect(() => negotiateWithDefaults({ header: "9.9" })).toThrow(
      expect.objectContaining({ reason: "VERSION_NOT_SUPPORTED", metadata: { supportedVersions: "1.0" } }),
    );
  });
});
