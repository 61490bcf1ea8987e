import { array, assert, constantFrom, jsonValue, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { READABLE_TEXTS, SECRET_FORMS } from "../../../test/support/secret-forms.ts";
import { createRedactor } from "./index.ts";

const redactor = createRedactor({ env: {} });

const fragments = constantFrom(
  "password",
  "cookie",
  ": ",
  "=",
  '"',
  "'",
  "\\",
  "\n",
  "{",
  "}",
  "[",
  "<",
  ">",
  "?k=",
  "&",
  "Bearer a1234567",
  "eyJabcdef.a.b",
);

describe("the redactor", () => {
  it.each(SECRET_FORMS)("hides the secret in $text", ({ text, secret }) => {
    expect(text).toContain(secret);
    expect(redactor.redactText(text)).not.toContain(secret);
    const nested = JSON.stringify({ a: [{ text: `before\n${text}` }] });
    const redacted = redactor.redactJson(JSON.stringify({ nested, text }));
    expect(redacted).not.toContain(secret.split("\n")[0]);
    expect(JSON.parse(redacted)).toHaveProperty("nested");
  });

  it.each(READABLE_TEXTS)("does not change %s", (text) => {
    expect(redactor.redactText(text)).toBe(text);
    expect(redactor.redactJson(JSON.stringify({ text }))).toBe(JSON.stringify({ text }));
  });

  it("knows the secrets in the environment, and shows the working directory in PWD", () => {
    const folder = "/home/ada/project";
    const env = { PWD: folder, OLDPWD: folder, DB_PWD: "hunter2hunter2", SOME_TOKEN: "abcdefgh" };
    expect(createRedactor({ env }).redactText(`at file://${folder}/agent.ts:2 hunter2hunter2 abcdefgh`)).toBe(
      `at file://${folder}/agent.ts:2 *** ***`,
    );
  });

  it("hides the API keys that the security schemes of a card declare, in A2A 1.0 and 0.3", () => {
    const declaring = createRedactor({ env: {} });
    declaring.addSecuritySchemes({
      a: { apiKeySecurityScheme: { location: "query", name: "k" } },
      b: { apiKeySecurityScheme: { location: "header", name: "X-Team" } },
      c: { type: "apiKey", in: "cookie", name: "sid" },
      d: { type: "apiKey", in: "query", name: "my key" },
      e: { apiKeySecurityScheme: { location: "header", name: "text" } },
      f: "no scheme",
    });
    const hide = (text: string): string => declaring.redactText(text);
    expect(hide("GET https://a.example/x?k=blue&page=2")).toBe("GET https://a.example/x?k=***&page=2");
    expect(hide("GET /x?my%20key=blue&my+key=blue")).toBe("GET /x?my%20key=***&my+key=***");
    expect(hide("x-team: blue\nsid=blue")).toBe("x-team: ***\nsid=***");
    expect(declaring.redactHeaders({ "x-team": "blue", accept: "*/*" })).toEqual({
      "x-team": "***",
      accept: "*/*",
    });
    const json = { headers: { "X-Team": "blue" }, parts: [{ text: "sky" }] };
    expect(declaring.redactJson(JSON.stringify(json))).toBe(
      '{"headers":{"X-Team":"***"},"parts":[{"text":"sky"}]}',
    );
    expect(redactor.redactText("GET /x?k=blue")).toBe("GET /x?k=blue");
  });

  it("hides secrets in lists of headers and in members with secret names", () => {
    const body = {
      headers: [
        { name: "X-Api-Key", value: "blue" },
        { key: "accept", value: "*/*" },
      ],
      cookies: ["a=blue"],
      multiValueHeaders: { "X-Api-Key": ["blue"], authorization: ["blue"], accept: ["*/*"] },
      login: { pin: 4711, otp: "004711", password: 20_260_101 },
      securitySchemes: { apiKey: { type: "apiKey", in: "header", name: "X-Api-Key" } },
      security: [{ apiKey: ["read"] }],
      inputTokens: 7,
    };
    expect(JSON.parse(redactor.redactJson(JSON.stringify(body)))).toEqual({
      ...body,
      headers: [
        { name: "X-Api-Key", value: "***" },
        { key: "accept", value: "*/*" },
      ],
      cookies: ["***"],
      multiValueHeaders: { "X-Api-Key": ["***"], authorization: ["***"], accept: ["*/*"] },
      login: { pin: "***", otp: "***", password: "***" },
    });
  });

  it("leaves challenges and idempotency keys readable", () => {
    const headers = {
      "www-authenticate": 'Bearer realm="a", scope="openid"',
      "proxy-authenticate": 'Digest nonce="a1b2c3d4e5f6"',
      "idempotency-key": "0198f4ce",
      "x-author": "ada",
    };
    expect(redactor.redactHeaders(headers)).toEqual(headers);
    expect(redactor.redactJson(JSON.stringify({ headers, token: "a" }))).toBe(
      JSON.stringify({ headers, token: "***" }),
    );
  });

  it.each(SECRET_FORMS)("shortens $text without a beginning of the secret", ({ text, secret }) => {
    const at = text.indexOf(secret);
    const beginning = secret.slice(0, Math.min(12, secret.length - 1));
    const long = `${text}${" and more".repeat(20)}`;
    expect(redactor.redactAndTruncate(long, at + beginning.length)).not.toContain(beginning);
  });

  it("returns the same for text that is redacted already, and valid JSON", () => {
    assert(
      property(array(fragments), jsonValue(), string(), (parts, value, text) => {
        const json = redactor.redactJson(JSON.stringify({ text: parts.join(""), value, [text]: 1 }));
        expect(redactor.redactJson(JSON.stringify(JSON.parse(json)))).toBe(json);
        const once = redactor.redactText(parts.join(""));
        expect(redactor.redactText(once)).toBe(once);
      }),
    );
  });
});
