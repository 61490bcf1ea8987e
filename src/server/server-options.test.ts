import { describe, expect, it } from "vitest";
import { bearer } from "./auth/index.ts";
import { createServer, type ServerOptions } from "./index.ts";
import { messageCommandTestAgent } from "./server.fixture.ts";

/** Returns the message of the error that `createServer` throws for untyped options. */
function getCreateError(options: object): string {
  try {
    createServer(messageCommandTestAgent, { store: "memory", ...(options as ServerOptions) });
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("the options of a server", () => {
  it.each([
    [{ versions: "1.0" }, `"versions" is "1.0"; use a list of "1.0", "0.3", or both.`],
    [{ versions: [] }, `"versions" is []; use a list of "1.0", "0.3", or both.`],
    [{ versions: ["2"] }, `"versions" is ["2"]; use a list of "1.0", "0.3", or both.`],
    [{ cardFormat: "v2" }, `"cardFormat" is "v2"; use one of "v1", "v0.3", "hybrid".`],
    [
      { cardFormat: "hybrid", versions: ["1.0"] },
      `"cardFormat" is "hybrid"; this format requires "0.3" in "versions".`,
    ],
    [{ missingVersionPolicy: "guess" }, `"missingVersionPolicy" is "guess"; use one of "0.3", "infer".`],
    [{ specRevision: "1.1" }, `"specRevision" is "1.1"; use one of "1.0.0", "1.0.1".`],
    [{ inputModePolicy: "off" }, `"inputModePolicy" is "off"; use one of "enforce", "ignore".`],
    [
      { publicUrl: "example.com" },
      `"publicUrl" is "example.com"; use an absolute URL, such as https://example.com/agents.`,
    ],
    [
      { tenants: "acme" },
      `"tenants" is "acme"; use a list of names, or a function that decides whether a caller may use a tenant.`,
    ],
    [
      { cardSigning: {} },
      `"cardSigning" has a key without "privateKey"; use a JWK, or PEM together with "alg".`,
    ],
    [
      { authenticate: [] },
      `"authenticate" is an empty list; omit the option to accept unauthenticated requests.`,
    ],
    [
      { authenticate: "secret" },
      `"authenticate" accepts functions and schemes of colloquy/auth; pass a scheme such as bearer(…).`,
    ],
    [
      { authenticate: [() => undefined, {}] },
      `"authenticate" accepts functions and schemes of colloquy/auth; pass a scheme such as bearer(…).`,
    ],
  ])("are rejected when they are invalid: %j", (options, message) => {
    expect(getCreateError(options)).toBe(message);
  });

  it("are accepted when they are valid", () => {
    const tokens = { "a-token-of-sixteen": "ada" };
    expect(
      getCreateError({ versions: ["0.3"], cardFormat: "v0.3", authenticate: [bearer({ tokens })] }),
    ).toBe("");
    expect(
      getCreateError({ versions: ["1.0"], cardFormat: "v1", tenants: [], publicUrl: "https://x.example/a/" }),
    ).toBe("");
  });
});
