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
import { arbitraryUrl } from "../../../test/support/arbitrary-url.ts";

// Generators of 1.0 values that 0.3 can express.

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
const FAST_CHECK_ALL_KEYS_OPTIONAL_OPTIONS = { requiredKeys: [] };

/** Creates a generator of objects in which each member is present or absent. */
function createPartialArbitrary<T extends object>(members: {
  [K in keyof T]: fc.Arbitrary<T[K]>;
}): fc.Arbitrary<Partial<T>> {
  return fc.record(members, FAST_CHECK_ALL_KEYS_OPTIONAL_OPTIONS) as unknown as fc.Arbitrary<Partial<T>>;
}

function mergeArbitraries<A extends object, B extends object>(
  a: fc.Arbitrary<A>,
  b: fc.Arbitrary<B>,
): fc.Arbitrary<A & B> {
  return fc.tuple(a, b).map(([first, second]) => ({ ...first, ...second }));
}

const modelFileContentArbitrary = fc.oneof(
  fc.record({ raw: base64Arbitrary }),
  fc.record({ url: arbitraryUrl }),
);
const modelTextPartArbitrary = fc.record({ text: fc.string({ unit: "grapheme" }) });

/**
 * Generates parts that the JSON-RPC types can express. Text and data parts may have metadata. File parts may
 * also have a name and a media type.
 */
export const jsonRpcExpressiblePartArbitrary: fc.Arbitrary<Part> = fc.oneof(
  mergeArbitraries(modelTextPartArbitrary, createPartialArbitrary({ metadata: objectArbitrary })),
  mergeArbitraries(
    fc.record({ data: fc.jsonValue() as fc.Arbitrary<JsonValue> }),
    createPartialArbitrary({ metadata: nonEmptyObjectArbitrary }),
  ),
  mergeArbitraries(
    modelFileContentArbitrary,
    createPartialArbitrary({ metadata: objectArbitrary, filename: textArbitrary, mediaType: textArbitrary }),
  ),
);

/**
 * Generates parts that the proto can express: without metadata and file names, and with data that is an
 * object.
 */
export const protoExpressiblePartArbitrary: fc.Arbitrary<Part> = fc.oneof(
  modelTextPartArbitrary,
  fc.record({ data: objectArbitrary }),
  mergeArbitraries(modelFileContentArbitrary, createPartialArbitrary({ mediaType: textArbitrary })),
);

/** Generators of messages, events, and requests. */
export interface ModelArbitraries {
  readonly message: fc.Arbitrary<Message>;
  readonly event: fc.Arbitrary<StreamResponse>;
  readonly request: fc.Arbitrary<SendMessageRequest>;
}

/**
 * Creates generators of messages, events, and requests from a generator of parts. `references`: whether
 * messages refer to other tasks.
 */
export function createModelArbitraries(part: fc.Arbitrary<Part>, references: boolean): ModelArbitraries {
  const parts = fc.array(part, { minLength: 1, maxLength: 3 });
  const createMessageArbitrary = (role: fc.Arbitrary<Role>): fc.Arbitrary<Message> =>
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
  const message = createMessageArbitrary(fc.constantFrom("ROLE_USER", "ROLE_AGENT"));
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
  const taskIdArbitraries = { taskId: textArbitrary, contextId: textArbitrary };
  const configuration = createPartialArbitrary({
    acceptedOutputModes: textListArbitrary,
    historyLength: fc.integer({ min: 1, max: 100 }),
    returnImmediately: fc.constant(true),
    taskPushNotificationConfig: pushConfigArbitrary,
  }).filter((configuration) => Object.keys(configuration).length > 0);
  return {
    message,
    event: fc.oneof(
      fc.record({ task }),
      fc.record({ message }),
      fc.record({
        statusUpdate: mergeArbitraries(
          fc.record({ ...taskIdArbitraries, status }),
          createPartialArbitrary({ metadata: objectArbitrary }),
        ),
      }),
      fc.record({
        artifactUpdate: mergeArbitraries(
          fc.record({ ...taskIdArbitraries, artifact }),
          createPartialArbitrary({
            append: fc.constant(true),
            lastChunk: fc.constant(true),
            metadata: objectArbitrary,
          }),
        ),
      }),
    ),
    request: mergeArbitraries(
      fc.record({ message: createMessageArbitrary(fc.constant("ROLE_USER")) }),
      createPartialArbitrary({ configuration, metadata: objectArbitrary }),
    ),
  };
}

/** Generates push notification configurations. */
export const pushConfigArbitrary: fc.Arbitrary<TaskPushNotificationConfig> = mergeArbitraries(
  fc.record({ url: arbitraryUrl }),
  createPartialArbitrary({
    id: textArbitrary.filter((id) => !id.includes("/")),
    token: textArbitrary,
    authentication: mergeArbitraries(
      fc.record({ scheme: textArbitrary }),
      createPartialArbitrary({ credentials: textArbitrary }),
    ),
  }),
);

/** Generates ids without slashes. */
export const idArbitrary: fc.Arbitrary<string> = textArbitrary.filter((text) => !text.includes("/"));
