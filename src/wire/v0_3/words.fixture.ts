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

const word = fc.string({ unit: "grapheme", minLength: 1 });
const object = fc.dictionary(
  word.filter((key) => key !== "data_part_compat"),
  fc.jsonValue(),
) as fc.Arbitrary<JsonObject>;
const some = object.filter((metadata) => Object.keys(metadata).length > 0);
const base64 = fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64"));
const time = fc
  .date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString());
const words = fc.array(word, { minLength: 1, maxLength: 3 });
const optional = { requiredKeys: [] };

/** Members, each there or not. */
function maybe<T extends object>(members: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> {
  return fc.record(members, optional) as unknown as fc.Arbitrary<Partial<T>>;
}

function both<A extends object, B extends object>(
  a: fc.Arbitrary<A>,
  b: fc.Arbitrary<B>,
): fc.Arbitrary<A & B> {
  return fc.tuple(a, b).map(([one, other]) => ({ ...one, ...other }));
}

const content = fc.oneof(fc.record({ raw: base64 }), fc.record({ url: fc.webUrl() }));
const text = fc.record({ text: fc.string({ unit: "grapheme" }) });

/** Of the JSON-RPC types: a text or data has metadata alone, a file its name and type, too. */
export const part: fc.Arbitrary<Part> = fc.oneof(
  both(text, maybe({ metadata: object })),
  both(fc.record({ data: fc.jsonValue() as fc.Arbitrary<JsonValue> }), maybe({ metadata: some })),
  both(content, maybe({ metadata: object, filename: word, mediaType: word })),
);

/** Of the proto: no metadata, no file names, and data that is an object. */
export const protoPart: fc.Arbitrary<Part> = fc.oneof(
  text,
  fc.record({ data: object }),
  both(content, maybe({ mediaType: word })),
);

export interface Words {
  readonly message: fc.Arbitrary<Message>;
  readonly event: fc.Arbitrary<StreamResponse>;
  readonly request: fc.Arbitrary<SendMessageRequest>;
}

export function wordsOf(part: fc.Arbitrary<Part>, references: boolean): Words {
  const parts = fc.array(part, { minLength: 1, maxLength: 3 });
  const messageOf = (role: fc.Arbitrary<Role>): fc.Arbitrary<Message> =>
    both(
      fc.record({ messageId: word, role, parts }),
      maybe({
        contextId: word,
        taskId: word,
        metadata: object,
        extensions: words,
        ...(references ? { referenceTaskIds: words } : {}),
      }),
    );
  const message = messageOf(fc.constantFrom("ROLE_USER", "ROLE_AGENT"));
  const status: fc.Arbitrary<TaskStatus> = both(
    fc.record({ state: fc.constantFrom(...TASK_STATES) }),
    maybe({ message, timestamp: time }),
  );
  const artifact: fc.Arbitrary<Artifact> = both(
    fc.record({ artifactId: word, parts }),
    maybe({ name: word, description: word, metadata: object, extensions: words }),
  );
  const task: fc.Arbitrary<Task> = both(
    fc.record({ id: word, contextId: word, status }),
    maybe({
      artifacts: fc.array(artifact, { minLength: 1, maxLength: 2 }),
      history: fc.array(message, { minLength: 1, maxLength: 2 }),
      metadata: object,
    }),
  );
  const ofTask = { taskId: word, contextId: word };
  const configuration = maybe({
    acceptedOutputModes: words,
    historyLength: fc.integer({ min: 1, max: 100 }),
    returnImmediately: fc.constant(true),
    taskPushNotificationConfig: pushConfig,
  }).filter((given) => Object.keys(given).length > 0);
  return {
    message,
    event: fc.oneof(
      fc.record({ task }),
      fc.record({ message }),
      fc.record({ statusUpdate: both(fc.record({ ...ofTask, status }), maybe({ metadata: object })) }),
      fc.record({
        artifactUpdate: both(
          fc.record({ ...ofTask, artifact }),
          maybe({ append: fc.constant(true), lastChunk: fc.constant(true), metadata: object }),
        ),
      }),
    ),
    request: both(
      fc.record({ message: messageOf(fc.constant("ROLE_USER")) }),
      maybe({ configuration, metadata: object }),
    ),
  };
}

export const pushConfig: fc.Arbitrary<TaskPushNotificationConfig> = both(
  fc.record({ url: fc.webUrl() }),
  maybe({
    id: word.filter((id) => !id.includes("/")),
    token: word,
    authentication: both(fc.record({ scheme: word }), maybe({ credentials: word })),
  }),
);

export const id: fc.Arbitrary<string> = word.filter((text) => !text.includes("/"));
