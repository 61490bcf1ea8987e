import { describe, expect, it } from "vitest";
import { bearer } from "./auth/index.ts";
import { createServer, type ServerOptions } from "./index.ts";
import { parrot } from "./server.fixture.ts";

/** What createServer says to options that TypeScript would not let pass. */
function getCreateError(options: object): string {
  try {
    createServer(parrot, { store: "memory", ...(options as ServerOptions) });
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("the options of a server", () => {
  it.each([
    [{ versions: "1.0" }, `"versions" is "1.0"; give a list of "1.0", "0.3" or both.`],
    [{ versions: [] }, `"versions" is []; give a list of "1.0", "0.3" or both.`],
    [{ versions: ["2"] }, `"versions" is ["2"]; give a list of "1.0", "0.3" or both.`],
    [{ card: "v2" }, `"card" is "v2"; it is one of "v1", "v0.3", "hybrid".`],
    [{ card: "hybrid", versions: ["1.0"] }, `"card" is "hybrid"; that card needs "0.3" among the versions.`],
    [{ missingVersion: "guess" }, `"missingVersion" is "guess"; it is one of "0.3", "infer".`],
    [{ specRevision: "1.1" }, `"specRevision" is "1.1"; it is one of "1.0.0", "1.0.1".`],
    [{ inputModes: "off" }, `"inputModes" is "off"; it is one of "enforce", "ignore".`],
    [
      { publicUrl: "example.com" },
      `"publicUrl" is "example.com"; give a whole URL, such as https://example.com/agents.`,
    ],
    [
      { tenants: "acme" },
      `"tenants" is "acme"; give a list of names, or a function that says who may be in one.`,
    ],
    [{ signing: {} }, `"signing" has a key without "privateKey"; give a JWK, or PEM with "alg" beside it.`],
    [{ authenticate: [] }, `"authenticate" is an empty list; leave it out to let everybody in.`],
    [
      { authenticate: "secret" },
      `"authenticate" takes what colloquy/auth makes, such as bearer(…), and functions.`,
    ],
    [
      { authenticate: [() => undefined, {}] },
      `"authenticate" takes what colloquy/auth makes, such as bearer(…), and functions.`,
    ],
  ])("are refused at once where they are wrong: %j", (options, message) => {
    expect(getCreateError(options)).toBe(message);
  });

  it("are taken where they are right", () => {
    const tokens = { "a-token-of-sixteen": "ada" };
    expect(
      getCreateError({ versions: ["0.3"], cardFormat: "v0.3", authenticate: [bearer({ tokens })] }),
    ).toBe("");
    expect(
      getCreateError({ versions: ["1.0"], cardFormat: "v1", tenants: [], publicUrl: "https://x.example/a/" }),
    ).toBe("");
  });
});
