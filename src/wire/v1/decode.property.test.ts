import * as fc from "fast-check";
import { expect, it } from "vitest";
import {
  A2AError,
  type JsonValue,
  type Message,
  type OperationName,
  type Part,
} from "../../protocol/index.ts";
import { decodeJsonRpcRequest, JsonRpcRequestError } from "../json-rpc.ts";
import { decodeCard, decodeParams, decodeResult } from "./index.ts";
import { arbitraryUrl } from "../../../test/support/arbitrary-url.ts";

const stringArbitrary = fc.string({ unit: "grapheme", minLength: 1 });
const jsonArbitrary = fc.jsonValue() as fc.Arbitrary<JsonValue>;
const metadataArbitrary = fc.dictionary(stringArbitrary, jsonArbitrary);
const ALL_OPTIONAL = { requiredKeys: [] };
const partFieldsArbitrary = fc.record(
  { metadata: metadataArbitrary, filename: stringArbitrary, mediaType: stringArbitrary },
  ALL_OPTIONAL,
);
const base64Arbitrary = fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64"));

const partArbitrary: fc.Arbitrary<Part> = fc
  .tuple(
    partFieldsArbitrary,
    fc.oneof(
      fc.record({ text: fc.string({ unit: "grapheme" }) }),
      fc.record({ raw: base64Arbitrary }),
      fc.record({ url: arbitraryUrl }),
      fc.record({ data: jsonArbitrary }),
    ),
  )
  .map(([common, content]) => ({ ...common, ...content }));

const messageArbitrary: fc.Arbitrary<Message> = fc.record(
  {
    messageId: stringArbitrary,
    role: fc.constant("ROLE_USER" as const),
    parts: fc.array(partArbitrary, { minLength: 1, maxLength: 4 }),
    contextId: stringArbitrary,
    taskId: stringArbitrary,
    metadata: metadataArbitrary,
    extensions: fc.array(stringArbitrary, { minLength: 1 }),
    referenceTaskIds: fc.array(stringArbitrary, { minLength: 1 }),
  },
  { requiredKeys: ["messageId", "role", "parts"] },
);

/**
 * Returns the same message in another valid spelling: snake_case, integer enums, URL-safe base64, and nulls.
 */
function toAlternateSpelling(value: Message | Part): unknown {
  return Object.fromEntries(
    Object.entries(value).map(([key, member]: [string, unknown]) => {
      const snake = key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      if (key === "role") return [snake, 1];
      if (key === "raw") return [snake, Buffer.from(member as string, "base64").toString("base64url")];
      return [snake, key === "parts" ? (member as Part[]).map(toAlternateSpelling) : member];
    }),
  );
}

it("a message is decoded to the same value in every valid spelling", () => {
  fc.assert(
    fc.property(messageArbitrary, (message) => {
      const sent = JSON.parse(JSON.stringify({ message })) as { message: Message };
      expect(decodeParams("SendMessage", sent)).toEqual(sent);
      const other = { message: toAlternateSpelling(sent.message), unknown_field: null };
      expect(decodeParams("SendMessage", other)).toEqual(sent);
      expect(decodeResult("SendMessage", sent)).toEqual(sent);
    }),
  );
});

const operations: OperationName[] = [
  "SendMessage",
  "GetTask",
  "ListTasks",
  "CancelTask",
  "SubscribeToTask",
  "GetExtendedAgentCard",
];
const memberNameArbitrary = fc.constantFrom(
  ..."message parts text raw data url role messageId message_id configuration id".split(" "),
  ..."historyLength pageSize status state task metadata __proto__ constructor statusUpdate".split(" "),
);
const nearMissArbitrary = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 6 }, fc.jsonValue(), tie("object"), fc.array(tie("value"), { maxLength: 3 })),
  object: fc.dictionary(memberNameArbitrary, tie("value"), { maxKeys: 6 }),
}));

/** Returns the error that a decoder throws, or `undefined` if it accepts the input. */
function catchError(decode: () => unknown): unknown {
  try {
    decode();
    return undefined;
  } catch (error) {
    return error;
  }
}

it("a decoder accepts any input or rejects it with violations", () => {
  fc.assert(
    fc.property(fc.constantFrom(...operations), nearMissArbitrary.value, (operation, input) => {
      const thrown = [
        catchError(() => decodeParams(operation, input)),
        catchError(() => decodeResult(operation, input)),
        catchError(() => decodeCard(input)),
      ];
      const refused = thrown.filter((error) => error !== undefined);
      expect(refused.every((error) => error instanceof A2AError && error.violations.length > 0)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

it("the envelope decoder accepts any body or rejects it with an A2A error", () => {
  const bodies = fc.oneof(
    fc.string(),
    fc.json(),
    nearMissArbitrary.object.map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(bodies, (body) => {
      const thrown = catchError(() => decodeJsonRpcRequest(body));
      expect(thrown === undefined || thrown instanceof JsonRpcRequestError).toBe(true);
    }),
  );
});
