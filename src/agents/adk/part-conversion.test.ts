import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type JsonObject, type JsonValue, type Part, toBase64 } from "../../protocol/index.ts";
import {
  parseFunctionCall,
  parseFunctionResponse,
  parseLongRunningCall,
  toA2aParts,
  toGenaiParts,
} from "./part-conversion.ts";
import type { GenaiPart } from "./adk-structural-types.ts";
import { arbitraryUrl } from "../../../test/support/arbitrary-url.ts";

const call = { id: "get_weather", name: "GetWeather", args: { city: "Warsaw" } };
const response = {
  id: "get_weather",
  name: "GetWeather",
  scheduling: "INTERRUPT",
  response: { temperature: "7C" },
};
const wrapDataPart = (json: string): string => btoa(`<a2a_datapart_json>${json}</a2a_datapart_json>`);

/** The vectors of ADK Go's bridge by number. */
const bidirectionalVectors: [name: string, genai: GenaiPart, a2a: Part][] = [
  ["text [V01]", { text: "Hello" }, { text: "Hello" }],
  ["thought [V02]", { text: "Hello", thought: true }, { text: "Hello", metadata: { adk_thought: true } }],
  [
    "file by URL [V03]",
    { fileData: { fileUri: "ftp://cat.com", mimeType: "image/jpeg", displayName: "cat.jpeg" } },
    { url: "ftp://cat.com", filename: "cat.jpeg", mediaType: "image/jpeg" },
  ],
  [
    "file by content [V04]",
    { inlineData: { data: "/w==", mimeType: "image/jpeg", displayName: "cat.jpeg" } },
    { raw: "/w==", filename: "cat.jpeg", mediaType: "image/jpeg" },
  ],
  [
    "video [V05]",
    { inlineData: { data: "/w==", mimeType: "video/mp4" }, videoMetadata: { fps: 1 } },
    { raw: "/w==", mediaType: "video/mp4", metadata: { adk_video_metadata: { fps: 1 } } },
  ],
  [
    "function call [V06]",
    { functionCall: call },
    { data: call, metadata: { adk_type: "function_call", adk_is_long_running: false } },
  ],
  [
    "function response [V08]",
    { functionResponse: response },
    { data: response, metadata: { adk_type: "function_response" } },
  ],
  [
    "code execution result [V09]",
    { codeExecutionResult: { outcome: "OUTCOME_OK", output: "4" } },
    { data: { outcome: "OUTCOME_OK", output: "4" }, metadata: { adk_type: "code_execution_result" } },
  ],
  [
    "executable code [V10]",
    { executableCode: { code: "print(2+2)", language: "PYTHON" } },
    { data: { code: "print(2+2)", language: "PYTHON" }, metadata: { adk_type: "executable_code" } },
  ],
  [
    "data [V11]",
    { inlineData: { mimeType: "text/plain", data: wrapDataPart('{"arbitrary":"data"}') } },
    { data: { arbitrary: "data" } },
  ],
  [
    "data that is not an object [V12]",
    { inlineData: { mimeType: "text/plain", data: wrapDataPart('[1,"x",null]') } },
    { data: [1, "x", null] },
  ],
  [
    "data that is null",
    { inlineData: { mimeType: "text/plain", data: wrapDataPart("null") } },
    { data: null },
  ],
  [
    "plain text files",
    { inlineData: { mimeType: "text/plain", data: btoa("hi") } },
    { raw: btoa("hi"), mediaType: "text/plain" },
  ],
  [
    "the signature of a thought [J25]",
    { functionCall: call, thoughtSignature: "c2ln" },
    {
      data: call,
      metadata: { adk_type: "function_call", adk_is_long_running: false, adk_thought_signature: "c2ln" },
    },
  ],
  [
    "an unknown kind [J25]",
    { toolResult: { of: "the future" } } as GenaiPart,
    { data: { toolResult: { of: "the future" } }, metadata: { adk_type: "unknown" } },
  ],
];

describe("a genai part and its A2A part", () => {
  it.each(bidirectionalVectors)("%s: to A2A", (_, genai, a2a) => expect(toA2aParts([genai])).toEqual([a2a]));
  it.each(bidirectionalVectors)("%s: from A2A", (_, genai, a2a) =>
    expect(toGenaiParts([a2a])).toEqual([genai]),
  );

  it("a call of a long-running tool is marked [V07]", () => {
    const [part] = toA2aParts([{ functionCall: call }], (id) => id === "get_weather");
    expect(part?.metadata).toEqual({ adk_type: "function_call", adk_is_long_running: true });
    expect(part && parseLongRunningCall(part)).toEqual(call);
  });

  it.each(["{not JSON", "", '{"a":1'])("a file with data tags around %j stays what it is", (json) => {
    const data = wrapDataPart(json);
    expect(toA2aParts([{ inlineData: { mimeType: "text/plain", data } }])).toEqual([
      { raw: data, mediaType: "text/plain" },
    ]);
  });

  it("requests a credential without secrets", () => {
    const oauth2 = {
      clientId: "id",
      authUri: "https://example.com/sign-in?client_id=id",
      state: "s",
      redirectUri: "https://example.com/back",
    };
    const secret = { clientSecret: "SECRET", codeVerifier: "SECRET", accessToken: "SECRET" };
    const authScheme = { type: "oauth2" };
    const credential = { authType: "oauth2", apiKey: "SECRET", http: { credentials: { token: "SECRET" } } };
    const authConfig = {
      authScheme,
      credentialKey: "k",
      rawAuthCredential: { ...credential, oauth2: secret },
      exchangedAuthCredential: { ...credential, oauth2: { ...oauth2, ...secret } },
    };
    const name = "adk_request_credential";
    const [part] = toA2aParts([
      { functionCall: { id: "c", name, args: { functionCallId: "f", authConfig } } },
    ]);
    expect(part).toMatchObject({
      data: {
        id: "c",
        name,
        args: {
          functionCallId: "f",
          authConfig: {
            authScheme,
            credentialKey: "k",
            exchangedAuthCredential: { authType: "oauth2", oauth2 },
          },
        },
      },
    });
    expect(JSON.stringify(part)).not.toContain("SECRET");
    const args = { function_call_id: "f", auth_config: { raw_auth_credential: secret, credential_key: "k" } };
    expect(toA2aParts([{ functionCall: { id: "c", name, args } }])).toMatchObject([
      { data: { args: { function_call_id: "f", auth_config: { credential_key: "k" } } } },
    ]);
    expect(JSON.stringify(toA2aParts([{ functionCall: { name, args } }]))).not.toContain("SECRET");
  });

  it("is dropped if it has no content [J25]", () => {
    expect(toA2aParts([{ text: "" }, {}, { text: "", thoughtSignature: "c2ln" }])).toEqual([]);
  });

  it("reads the key that Go's bridge writes for videos [V05]", () => {
    const part: Part = { raw: "/w==", mediaType: "video/mp4", metadata: { video_metadata: { fps: 1 } } };
    expect(toGenaiParts([part])[0]?.videoMetadata).toEqual({ fps: 1 });
  });

  it.each([
    ["without a type", undefined],
    ["with the type function_call", "function_call"],
    ["with the type function_response", "function_response"],
    ["with the type executable_code", "executable_code"],
    ["with the type unknown", "unknown"],
  ])("survives a session as data that is not an object, %s [V12]", (_, type) => {
    for (const data of [[1, "x", null], [], null, "text", 0, false] as JsonValue[]) {
      const part: Part = { data, ...(type === undefined ? {} : { metadata: { adk_type: type } }) };
      const inSession = toGenaiParts([part]);
      expect(inSession).toEqual([
        { inlineData: { mimeType: "text/plain", data: wrapDataPart(JSON.stringify(data)) } },
      ]);
      expect(toA2aParts(inSession)).toEqual([{ data }]);
      expect([parseFunctionCall(part), parseFunctionResponse(part)]).toEqual([undefined, undefined]);
    }
  });

  it("is not affected by later changes of ADK", () => {
    const args = { city: "Warsaw" };
    const [part] = toA2aParts([{ functionCall: { name: "f", args } }]);
    args.city = "Kraków";
    expect(part).toMatchObject({ data: { args: { city: "Warsaw" } } });
  });

  it("converts any JSON back without loss", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const data = JSON.parse(JSON.stringify(json)) as JsonValue;
        expect(toA2aParts(toGenaiParts([{ data }]))).toEqual([{ data }]);
      }),
    );
  });

  it("converts back without loss, for any genai part [J25]", () => {
    fc.assert(
      fc.property(fc.array(arbitraryGenaiPart, { maxLength: 3 }), (parts) => {
        expect(toGenaiParts(toA2aParts(parts))).toEqual(parts);
      }),
      { numRuns: 200 },
    );
  });

  it("converts to the same A2A part after a round trip", () => {
    fc.assert(
      fc.property(fc.array(arbitraryGenaiPart, { maxLength: 3 }), (parts) => {
        const converted = toA2aParts(parts, (id) => id.length > 3);
        expect(toA2aParts(toGenaiParts(converted), (id) => id.length > 3)).toEqual(converted);
      }),
    );
  });
});

/** JSON as returned by a parser: without -0 and without a `__proto__` member. */
const arbitraryJsonObject = (depth = 1): fc.Arbitrary<JsonObject> =>
  fc
    .dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: depth }))
    .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);

const arbitraryBase64 = fc.uint8Array().map((bytes) => toBase64(bytes));
const arbitraryFileName = fc.option(fc.string({ minLength: 1 }), { nil: undefined });

/** Every kind of genai part with its flags, including unknown members. */
const arbitraryGenaiPart: fc.Arbitrary<GenaiPart> = fc
  .tuple(
    fc.oneof(
      fc.record({ text: fc.string({ minLength: 1 }) }),
      fc.record({
        inlineData: fc.record({
          data: arbitraryBase64,
          mimeType: fc.constantFrom("image/png", "text/plain"),
          displayName: arbitraryFileName,
        }),
      }),
      fc.record({
        fileData: fc.record({
          fileUri: arbitraryUrl,
          mimeType: fc.constant("image/png"),
          displayName: arbitraryFileName,
        }),
      }),
      fc.record({
        functionCall: fc.record({ id: fc.string(), name: fc.string(), args: arbitraryJsonObject() }),
      }),
      fc.record({
        functionResponse: fc.record({
          id: fc.string(),
          name: fc.string(),
          response: arbitraryJsonObject(),
          parts: fc.array(arbitraryJsonObject()),
          scheduling: fc.constantFrom("INTERRUPT", "SILENT"),
          willContinue: fc.boolean(),
        }),
      }),
      fc.record({ executableCode: arbitraryJsonObject() }),
      fc.record({ codeExecutionResult: arbitraryJsonObject() }),
      fc.record({ toolCall: arbitraryJsonObject(), ofTheFuture: arbitraryJsonObject() }),
    ),
    fc.record(
      {
        thought: fc.constant(true),
        thoughtSignature: arbitraryBase64.filter(Boolean),
        videoMetadata: arbitraryJsonObject(),
        mediaResolution: arbitraryJsonObject(),
        partMetadata: arbitraryJsonObject(),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([content, flags]) => JSON.parse(JSON.stringify({ ...content, ...flags })) as GenaiPart);

describe("a part with an invalid payload for its type", () => {
  const typed = (type: string, data: JsonValue): Part => ({ data, metadata: { adk_type: type } });

  it.each([
    ["a call without a name", typed("function_call", { args: {} })],
    ["a call whose arguments are a list", typed("function_call", { name: "f", args: [] })],
    ["a call that is text", typed("function_call", "f()")],
    ["a response whose id is a number", typed("function_response", { id: 1, name: "f" })],
    ["an unknown type", typed("spell", { name: "f" })],
    ["a call with an unknown type", typed("unknown", { functionCall: { name: "f" } })],
    ["text with an unknown type", typed("unknown", { text: "hi", x: 1 })],
    ["a response with an unknown type", typed("unknown", { functionResponse: { id: "x" } })],
  ])("is plain data: %s", (_, part) => {
    expect(toGenaiParts([part])[0]).toMatchObject({ inlineData: { mimeType: "text/plain" } });
    expect([parseFunctionCall(part), parseFunctionResponse(part), parseLongRunningCall(part)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("cannot set known members", () => {
    const part: Part = { text: "hi", metadata: { adk_more: { functionResponse: { id: "x" } } } };
    expect(toGenaiParts([part])).toEqual([{ text: "hi" }]);
  });

  it("may omit the name of its call", () => {
    expect(parseFunctionResponse(typed("function_response", { id: "x", response: {} }))).toEqual({
      id: "x",
      response: {},
    });
  });
});
