import { describe, expect, it } from "vitest";
import { toClientAuthOptions } from "./client-auth-options.ts";

describe("credentials", () => {
  it("are read from the options", () => {
    expect(
      toClientAuthOptions({
        output: "text",
        bearer: "t",
        apiKey: "k",
        basic: "me:p:w",
        oauthClient: "id:secret",
        oauthIssuer: "https://login.example",
      }),
    ).toEqual({
      bearer: "t",
      apiKey: "k",
      basic: { username: "me", password: "p:w" },
      oauthClient: { id: "id", secret: "secret", issuer: "https://login.example" },
    });
  });

  it("are absent without options", () => {
    expect(toClientAuthOptions({ output: "text" })).toBeUndefined();
  });

  it("without a colon are rejected without being printed", () => {
    const half = (): unknown => toClientAuthOptions({ output: "text", basic: "s3cret" });
    expect(half).toThrow("--basic must be a name and a secret separated by a colon.");
  });
});
