import * as fc from "fast-check";
import type { JsonValue, StreamResponse, Task } from "../../protocol/index.ts";
import { arbitraryUrl } from "../../../test/support/arbitrary-url.ts";

// Generators of tasks and events with all members that A2A 1.0 allows.

const stringArbitrary = fc.string({ unit: "grapheme", minLength: 1 });
// The JSON round trip turns -0 into 0, because toStrictEqual distinguishes them.
const jsonArbitrary = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);
const metadataArbitrary = fc.dictionary(stringArbitrary, jsonArbitrary, { minKeys: 1 });
const stringListArbitrary = fc.array(stringArbitrary, { minLength: 1, maxLength: 3 });
const dateArbitrary = fc.date({
  min: new Date(0),
  max: new Date("9999-12-31T23:59:59.999Z"),
  noInvalidDate: true,
});
const isoTimestampArbitrary = dateArbitrary.map((date) => date.toISOString());

const partArbitrary = fc
  .tuple(
    fc.record(
      { metadata: metadataArbitrary, filename: stringArbitrary, mediaType: stringArbitrary },
      { requiredKeys: [] },
    ),
    fc.oneof(
      fc.record({ text: fc.string({ unit: "grapheme" }) }),
      fc.record({ raw: fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64")) }),
      fc.record({ url: arbitraryUrl }),
      fc.record({ data: jsonArbitrary }),
    ),
  )
  .map(([optionalMembers, content]) => ({ ...optionalMembers, ...content }));
const partListArbitrary = fc.array(partArbitrary, { minLength: 1, maxLength: 3 });

const messageArbitrary = fc.record(
  {
    messageId: stringArbitrary,
    role: fc.constantFrom("ROLE_USER", "ROLE_AGENT"),
    parts: partListArbitrary,
    contextId: stringArbitrary,
    taskId: stringArbitrary,
    metadata: metadataArbitrary,
    extensions: stringListArbitrary,
    referenceTaskIds: stringListArbitrary,
  },
  { requiredKeys: ["messageId", "role", "parts"] },
);

const taskStatusArbitrary = fc.record(
  {
    state: fc.constantFrom("TASK_STATE_SUBMITTED", "TASK_STATE_CANCELED", "TASK_STATE_AUTH_REQUIRED"),
    message: messageArbitrary,
    timestamp: isoTimestampArbitrary,
  },
  { requiredKeys: ["state"] },
);

const artifactArbitrary = fc.record(
  {
    artifactId: stringArbitrary,
    name: stringArbitrary,
    description: stringArbitrary,
    parts: partListArbitrary,
    metadata: metadataArbitrary,
    extensions: stringListArbitrary,
  },
  { requiredKeys: ["artifactId", "parts"] },
);

/** Generates tasks. */
export const taskArbitrary: fc.Arbitrary<Task> = fc.record(
  {
    id: stringArbitrary,
    contextId: stringArbitrary,
    status: taskStatusArbitrary,
    artifacts: fc.array(artifactArbitrary, { minLength: 1, maxLength: 2 }),
    history: fc.array(messageArbitrary, { minLength: 1, maxLength: 2 }),
    metadata: metadataArbitrary,
  },
  { requiredKeys: ["id", "contextId", "status"] },
) as fc.Arbitrary<Task>;

const updateEventFieldArbitraries = {
  taskId: stringArbitrary,
  contextId: stringArbitrary,
  metadata: metadataArbitrary,
};
/** Generates stream events. */
export const eventArbitrary: fc.Arbitrary<StreamResponse> = fc.oneof(
  fc.record({ task: taskArbitrary }),
  fc.record({ message: messageArbitrary }),
  fc.record({
    statusUpdate: fc.record(
      { ...updateEventFieldArbitraries, status: taskStatusArbitrary },
      { requiredKeys: ["taskId", "contextId", "status"] },
    ),
  }),
  fc.record({
    artifactUpdate: fc.record(
      {
        ...updateEventFieldArbitraries,
        artifact: artifactArbitrary,
        append: fc.constant(true),
        lastChunk: fc.constant(true),
      },
      { requiredKeys: ["taskId", "contextId", "artifact"] },
    ),
  }),
) as fc.Arbitrary<StreamResponse>;

/**
 * Returns `false` for values that the official SDK does not preserve: `null` as data, and members named
 * `__proto__`.
 */
export function isPreservedByOfficialSdk(value: object): boolean {
  return !/"data":null|"__proto__":/.test(JSON.stringify(value));
}
