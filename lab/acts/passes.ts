import type { ActsTest } from "../../src/studio/judge/index.ts";

/** The token of a2a-itk, which the agent under test accepts. */
export const VALID_TOKEN = "itk-valid-token";

/**
 * Starts of the agent under test. No agent can satisfy the preconditions of all tests, so a test counts in exactly one
 * pass: in `auth` if it requires authentication, in `reduced` if it requires that a capability is absent, and
 * otherwise in `default`.
 */
export type Pass = "default" | "auth" | "reduced";

export function choosePass({ preconditions = {} }: Pick<ActsTest, "preconditions">): Pass {
  if (preconditions.authentication === true) return "auth";
  return Object.values(preconditions.capabilities ?? {}).includes(false) ? "reduced" : "default";
}
