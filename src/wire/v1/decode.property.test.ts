import * as fc from "fast-check";
import { expect, it } from "vitest";
import {
  A2AError,
  type JsonValue,
  type Message,
  type OperationName,
  type Part,
} from "../../protocol/index.ts";
import { decodeJsonRpc, JsonRpcFailure } from "../json-rpc.ts";
import { decodeCard, decodeParams, decodeResult } from "./index.ts";

const string = fc.string({ unit: "grapheme", minLength: 1 });
const json = fc.jsonValue() as fc.Arbitrary<JsonValue>;
const metadata = fc.dictionary(string, json);
const optional = { requiredKeys: [] };
const about = fc.record({ metadata, filename: string, mediaType: string }, optional);
const base64 = fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64"));

const part: fc.Arbitrary<Part> = fc
  .tuple(
    about,
    fc.oneof(
      fc.record({ text: fc.string({ unit: "grapheme" }) }),
      fc.record({ raw: base64 }),
      fc.record({ url: fc.webUrl() }),
      fc.record({ data: json }),
    ),
  )
  .map(([common, content]) => ({ ...common, ...content }));

const message: fc.Arbitrary<Message> = fc.record(
  {
    messageId: string,
    role: fc.constant("ROLE_USER" as const),
    parts: fc.array(part, { minLength: 1, maxLength: 4 }),
    contextId: string,
    taskId: string,
    metadata,
    extensions: fc.array(string, { minLength: 1 }),
    referenceTaskIds: fc.array(string, { minLength: 1 }),
  },
  { requiredKeys: ["messageId", "role", "parts"] },
);

/** The same message as another conforming writer may put it: snake_case, integer enums, URL-safe base64, nulls. */
function inOtherWords(value: Message | Part): unknown {
  return Object.fromEntries(
    Object.entries(value).map(([key, member]: [string, unknown]) => {
      const snake = key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      if (key === "role") return [snake, 1];
      if (key === "raw") return [snake, Buffer.from(member as string, "base64").toString("base64url")];
      return [snake, key === "parts" ? (member as Part[]).map(inOtherWords) : member];
    }),
  );
}

it("a message survives the wire, whichever of its spellings is used", () => {
  fc.assert(
    fc.property(message, (message) => {
      const sent = JSON.parse(JSON.stringify({ message })) as { message: Message };
      expect(decodeParams("SendMessage", sent)).toEqual(sent);
      const other = { message: inOtherWords(sent.message), unknown_field: null };
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
const words = fc.constantFrom(
  ..."message parts text raw data url role messageId message_id configuration id".split(" "),
  ..."historyLength pageSize status state task metadata __proto__ constructor statusUpdate".split(" "),
);
const nearMiss = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 6 }, fc.jsonValue(), tie("object"), fc.array(tie("value"), { maxLength: 3 })),
  object: fc.dictionary(words, tie("value"), { maxKeys: 6 }),
}));

/** What a decoder throws; nothing when it reads the input. */
function thrownBy(decode: () => unknown): unknown {
  try {
    decode();
    return undefined;
  } catch (error) {
    return error;
  }
}

it("no input crashes a decoder: it is read or refused with its violations", () => {
  fc.assert(
    fc.property(fc.constantFrom(...operations), nearMiss.value, (operation, input) => {
      const thrown = [
        thrownBy(() => decodeParams(operation, input)),
        thrownBy(() => decodeResult(operation, input)),
        thrownBy(() => decodeCard(input)),
      ];
      const refused = thrown.filter((error) => error !== undefined);
      expect(refused.every((error) => error instanceof A2AError && error.violations.length > 0)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

it("no body crashes the envelope's decoder", () => {
  const bodies = fc.oneof(
    fc.string(),
    fc.json(),
    nearMiss.object.map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(bodies, (body) => {
      const thrown = thrownBy(() => decodeJsonRpc(body));
      expect(thrown === undefined || thrown instanceof JsonRpcFailure).toBe(true);
    }),
  );
});
