import * as fc from "fast-check";
import {
  TASK_STATES,
  type Artifact,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  type Role,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  type TaskPushNotificationConfig,
  type TaskStatus,
} from "../../protocol/index.ts";

// What 0.3 can express, in the words of 1.0.

const textArbitrary = fc.string({ unit: "grapheme", minLength: 1 });
const objectArbitrary = fc.dictionary(
  textArbitrary.filter((key) => key !== "data_part_compat"),
  fc.jsonValue(),
) as fc.Arbitrary<JsonObject>;
const nonEmptyObjectArbitrary = objectArbitrary.filter((metadata) => Object.keys(metadata).length > 0);
const base64Arbitrary = fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64"));
const timestampArbitrary = fc
  .date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString());
const textListArbitrary = fc.array(textArbitrary, { minLength: 1, maxLength: 3 });
const ALL_OPTIONAL = { requiredKeys: [] };

/** Members, each there or not. */
function createPartialArbitrary<T extends object>(members: {
  [K in keyof T]: fc.Arbitrary<T[K]>;
}): fc.Arbitrary<Partial<T>> {
  return fc.record(members, ALL_OPTIONAL) as unknown as fc.Arbitrary<Partial<T>>;
}

function mergeArbitraries<A extends object, B extends object>(
  a: fc.Arbitrary<A>,
  b: fc.Arbitrary<B>,
): fc.Arbitrary<A & B> {
  return fc.tuple(a, b).map(([one, other]) => ({ ...one, ...other }));
}

const fileContentArbitrary = fc.oneof(fc.record({ raw: base64Arbitrary }), fc.record({ url: fc.webUrl() }));
const textPartArbitrary = fc.record({ text: fc.string({ unit: "grapheme" }) });

/** Of the JSON-RPC types: a text or data has metadata alone, a file its name and type, too. */
export const partArbitrary: fc.Arbitrary<Part> = fc.oneof(
  mergeArbitraries(textPartArbitrary, createPartialArbitrary({ metadata: objectArbitrary })),
  mergeArbitraries(
    fc.record({ data: fc.jsonValue() as fc.Arbitrary<JsonValue> }),
    createPartialArbitrary({ metadata: nonEmptyObjectArbitrary }),
  ),
  mergeArbitraries(
    fileContentArbitrary,
    createPartialArbitrary({ metadata: objectArbitrary, filename: textArbitrary, mediaType: textArbitrary }),
  ),
);

/** Of the proto: no metadata, no file names, and data that is an object. */
export const protoPartArbitrary: fc.Arbitrary<Part> = fc.oneof(
  textPartArbitrary,
  fc.record({ data: objectArbitrary }),
  mergeArbitraries(fileContentArbitrary, createPartialArbitrary({ mediaType: textArbitrary })),
);

export interface ModelArbitraries {
  readonly message: fc.Arbitrary<Message>;
  readonly event: fc.Arbitrary<StreamResponse>;
  readonly request: fc.Arbitrary<SendMessageRequest>;
}

export function createModelArbitraries(part: fc.Arbitrary<Part>, references: boolean): ModelArbitraries {
  const parts = fc.array(part, { minLength: 1, maxLength: 3 });
  const messageOf = (role: fc.Arbitrary<Role>): fc.Arbitrary<Message> =>
    mergeArbitraries(
      fc.record({ messageId: textArbitrary, role, parts }),
      createPartialArbitrary({
        contextId: textArbitrary,
        taskId: textArbitrary,
        metadata: objectArbitrary,
        extensions: textListArbitrary,
        ...(references ? { referenceTaskIds: textListArbitrary } : {}),
      }),
    );
  const message = messageOf(fc.constantFrom("ROLE_USER", "ROLE_AGENT"));
  const status: fc.Arbitrary<TaskStatus> = mergeArbitraries(
    fc.record({ state: fc.constantFrom(...TASK_STATES) }),
    createPartialArbitrary({ message, timestamp: timestampArbitrary }),
  );
  const artifact: fc.Arbitrary<Artifact> = mergeArbitraries(
    fc.record({ artifactId: textArbitrary, parts }),
    createPartialArbitrary({
      name: textArbitrary,
      description: textArbitrary,
      metadata: objectArbitrary,
      extensions: textListArbitrary,
    }),
  );
  const task: fc.Arbitrary<Task> = mergeArbitraries(
    fc.record({ id: textArbitrary, contextId: textArbitrary, status }),
    createPartialArbitrary({
      artifacts: fc.array(artifact, { minLength: 1, maxLength: 2 }),
      history: fc.array(message, { minLength: 1, maxLength: 2 }),
      metadata: objectArbitrary,
    }),
  );
  const ofTask = { taskId: textArbitrary, contextId: textArbitrary };
  const configuration = createPartialArbitrary({
    acceptedOutputModes: textListArbitrary,
    historyLength: fc.integer({ min: 1, max: 100 }),
    returnImmediately: fc.constant(true),
    taskPushNotificationConfig: pushConfigArbitrary,
  }).filter((given) => Object.keys(given).length > 0);
  return {
    message,
    event: fc.oneof(
      fc.record({ task }),
      fc.record({ message }),
      fc.record({
        statusUpdate: mergeArbitraries(
          fc.record({ ...ofTask, status }),
          createPartialArbitrary({ metadata: objectArbitrary }),
        ),
      }),
      fc.record({
        artifactUpdate: mergeArbitraries(
          fc.record({ ...ofTask, artifact }),
          createPartialArbitrary({
            append: fc.constant(true),
            lastChunk: fc.constant(true),
            metadata: objectArbitrary,
          }),
        ),
      }),
    ),
    request: mergeArbitraries(
      fc.record({ message: messageOf(fc.constant("ROLE_USER")) }),
      createPartialArbitrary({ configuration, metadata: objectArbitrary }),
    ),
  };
}

export const pushConfigArbitrary: fc.Arbitrary<TaskPushNotificationConfig> = mergeArbitraries(
  fc.record({ url: fc.webUrl() }),
  createPartialArbitrary({
    id: textArbitrary.filter((id) => !id.includes("/")),
    token: textArbitrary,
    authentication: mergeArbitraries(
      fc.record({ scheme: textArbitrary }),
      createPartialArbitrary({ credentials: textArbitrary }),
    ),
  }),
);

export const idArbitrary: fc.Arbitrary<string> = textArbitrary.filter((text) => !text.includes("/"));
