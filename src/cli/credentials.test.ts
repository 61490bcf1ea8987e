import { describe, expect, it } from "vitest";
import { credentialsOf } from "./credentials.ts";

describe("credentials", () => {
  it("are what the options say, for the card to say where they go", () => {
    expect(
      credentialsOf({
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
      client: { id: "id", secret: "secret", issuer: "https://login.example" },
    });
  });

  it("are none when the options say nothing", () => {
    expect(credentialsOf({ output: "text" })).toBeUndefined();
  });

  it("that lack their half are refused without being shown", () => {
    const half = (): unknown => credentialsOf({ output: "text", basic: "s3cret" });
    expect(half).toThrow("--basic is a name and a secret with a colon between them.");
  });
});
