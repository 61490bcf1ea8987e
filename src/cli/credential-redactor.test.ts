import { describe, expect, it } from "vitest";
import { createOptionsRedactor } from "./credential-redactor.ts";

describe("redacted output", () => {
  it("contains no credential in any encoding", () => {
    const secret = "it's (a) se~cret!*/ü";
    const inForm = new URLSearchParams({ client_secret: secret }).toString();
    const inUrl = new URL("http://agent.example/");
    inUrl.searchParams.set("api_key", secret);
    for (const redactor of [
      createOptionsRedactor({ apiKey: secret }),
      createOptionsRedactor({ oauthClient: `me:${secret}` }),
    ]) {
      const redact = (text: string): string => redactor.redactText(text);
      expect(redact(inForm)).toBe("client_secret=***");
      expect(redact(inUrl.href)).toBe("http://agent.example/?api_key=***");
      expect(redact(JSON.stringify({ secret }))).toBe('{"secret":"***"}');
      expect(redact(`x=${encodeURIComponent(secret)}`)).toBe("x=***");
      expect(redact(Buffer.from(secret).toString("base64"))).toBe("***");
    }
  });

  it("contains no client authentication header for a token server", () => {
    const redactor = createOptionsRedactor({ oauthClient: "me:se!c:ret" });
    for (const pair of ["me:se!c:ret", "me:se%21c%3Aret"])
      expect(redactor.redactText(`Basic ${Buffer.from(pair).toString("base64")}`)).toBe("Basic ***");
  });
});
