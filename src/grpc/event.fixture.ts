import * as fc from "fast-check";
import type { JsonValue, StreamResponse, Task } from "../protocol/index.ts";

// Tasks and events with anything in them that 1.0 allows.

const string = fc.string({ unit: "grapheme", minLength: 1 });
// -0 is 0 in JSON, and so it is for `toEqual`'s strict brother.
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);
const metadata = fc.dictionary(string, json, { minKeys: 1 });
const strings = fc.array(string, { minLength: 1, maxLength: 3 });
const time = fc.date({ min: new Date(0), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true });
const timestamp = time.map((date) => date.toISOString());

const part = fc
  .tuple(
    fc.record({ metadata, filename: string, mediaType: string }, { requiredKeys: [] }),
    fc.oneof(
      fc.record({ text: fc.string({ unit: "grapheme" }) }),
      fc.record({ raw: fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64")) }),
      fc.record({ url: fc.webUrl() }),
      fc.record({ data: json }),
    ),
  )
  .map(([about, content]) => ({ ...about, ...content }));
const parts = fc.array(part, { minLength: 1, maxLength: 3 });

const message = fc.record(
  {
    messageId: string,
    role: fc.constantFrom("ROLE_USER", "ROLE_AGENT"),
    parts,
    contextId: string,
    taskId: string,
    metadata,
    extensions: strings,
    referenceTaskIds: strings,
  },
  { requiredKeys: ["messageId", "role", "parts"] },
);

const status = fc.record(
  {
    state: fc.constantFrom("TASK_STATE_SUBMITTED", "TASK_STATE_CANCELED", "TASK_STATE_AUTH_REQUIRED"),
    message,
    timestamp,
  },
  { requiredKeys: ["state"] },
);

const artifact = fc.record(
  { artifactId: string, name: string, description: string, parts, metadata, extensions: strings },
  { requiredKeys: ["artifactId", "parts"] },
);

export const task: fc.Arbitrary<Task> = fc.record(
  {
    id: string,
    contextId: string,
    status,
    artifacts: fc.array(artifact, { minLength: 1, maxLength: 2 }),
    history: fc.array(message, { minLength: 1, maxLength: 2 }),
    metadata,
  },
  { requiredKeys: ["id", "contextId", "status"] },
) as fc.Arbitrary<Task>;

const update = { taskId: string, contextId: string, metadata };
export const event: fc.Arbitrary<StreamResponse> = fc.oneof(
  fc.record({ task }),
  fc.record({ message }),
  fc.record({
    statusUpdate: fc.record({ ...update, status }, { requiredKeys: ["taskId", "contextId", "status"] }),
  }),
  fc.record({
    artifactUpdate: fc.record(
      { ...update, artifact, append: fc.constant(true), lastChunk: fc.constant(true) },
      { requiredKeys: ["taskId", "contextId", "artifact"] },
    ),
  }),
) as fc.Arbitrary<StreamResponse>;

/** The SDK loses a part's `null`, and any member called `__proto__`. */
export function isKeptBySdk(value: object): boolean {
  return !/"data":null|"__proto__":/.test(JSON.stringify(value));
}
