import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deriveSessionKey } from "./session-key.ts";

const arbitraryName = fc.oneof(
  fc.constantFrom("", "a", "A2A_USER_a", "A2A_TENANT_a/a", "A2A_PRINCIPAL_A2A_USER_a", "a/a", "A2A_"),
  fc.string(),
);

describe("the session of a context", () => {
  it.each([
    ["an unauthenticated caller", { tenant: "", principal: "" }, "A2A_USER_C"],
    ["a caller", { tenant: "", principal: "alice" }, "alice"],
    ["a caller of a tenant", { tenant: "acme/eu", principal: "alice" }, "A2A_TENANT_acme%2Feu/alice"],
    ["a caller with a reserved prefix", { tenant: "", principal: "A2A_USER_C" }, "A2A_PRINCIPAL_A2A_USER_C"],
  ])("of %s belongs to that caller", (_, caller, userId) => {
    expect(deriveSessionKey("app", "C", caller)).toEqual({ appName: "app", userId, sessionId: "C" });
  });

  it("never belongs to another caller", () => {
    const caller = fc.record({ tenant: arbitraryName, principal: arbitraryName });
    fc.assert(
      fc.property(caller, caller, arbitraryName, (one, other, contextId) => {
        const same = one.tenant === other.tenant && one.principal === other.principal;
        const [a, b] = [deriveSessionKey("app", contextId, one), deriveSessionKey("app", contextId, other)];
        expect(a.userId === b.userId).toBe(same);
      }),
      { numRuns: 2000 },
    );
  });
});
