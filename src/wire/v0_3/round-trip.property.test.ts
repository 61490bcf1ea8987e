import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { A2AError, LogEvent, type OperationName, type Operations } from "../../protocol/index.ts";
import type { OperationCodec } from "../dialect.ts";
import { decodeResult, encodeParams, decodeCard, jsonRpcDialect, type ClientCodec } from "./index.ts";
import { createProtoJsonCodec } from "./proto-json-codec.ts";
import {
  idArbitrary,
  jsonRpcExpressiblePartArbitrary,
  protoExpressiblePartArbitrary,
  pushConfigArbitrary,
  createModelArbitraries,
} from "./model-arbitraries.fixture.ts";

const cloneAsJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

// Files as bytes are ambiguous if the bytes are base64 text.
const protoJsonCodec = createProtoJsonCodec("base64-text");

const CODEC_PAIRS: readonly {
  readonly name: string;
  readonly server: OperationCodec;
  readonly client: ClientCodec;
  readonly arbitraries: ReturnType<typeof createModelArbitraries>;
}[] = [
  {
    name: "the JSON-RPC types",
    server: jsonRpcDialect,
    client: { encodeParams, decodeResult },
    arbitraries: createModelArbitraries(jsonRpcExpressiblePartArbitrary, true),
  },
  {
    name: "the proto",
    server: protoJsonCodec,
    client: protoJsonCodec,
    arbitraries: createModelArbitraries(protoExpressiblePartArbitrary, false),
  },
];

describe.each(CODEC_PAIRS)("$name of A2A 0.3", ({ server, client, arbitraries }) => {
  const roundTripResult = <O extends OperationName>(
    operation: O,
    result: Operations[O]["result"],
  ): Operations[O]["result"] =>
    client.decodeResult(
      operation,
      JSON.parse(JSON.stringify(server.toResultJson(operation, result))) as unknown,
    );
  const roundTripParams = <O extends OperationName>(operation: O, params: Operations[O]["params"]): object =>
    server.decodeParams(operation, cloneAsJson(client.encodeParams(operation, params)));

  it("preserve every event in a round trip [V-02, V-03, V-05, V-07, V-08]", () => {
    fc.assert(
      fc.property(arbitraries.event, (generated) => {
        const event = cloneAsJson(generated);
        const text = server.encodeEvent(LogEvent.create(1, event));
        expect(client.decodeResult("SendStreamingMessage", JSON.parse(text) as unknown)).toEqual(event);
        if ("task" in event) {
          expect(roundTripResult("GetTask", event.task)).toEqual(event.task);
          expect(roundTripResult("SendMessage", event)).toEqual(event);
        }
      }),
    );
  });

  it("preserve every request in a round trip [V-06, V-09]", () => {
    fc.assert(
      fc.property(arbitraries.request, (generated) => {
        const request = cloneAsJson(generated);
        expect(roundTripParams("SendMessage", request)).toEqual(request);
      }),
    );
    fc.assert(
      fc.property(idArbitrary, fc.integer({ min: 1, max: 1000 }), (id, historyLength) => {
        expect(roundTripParams("GetTask", { id, historyLength })).toEqual({ id, historyLength });
        expect(roundTripParams("CancelTask", { id })).toEqual({ id });
        expect(roundTripParams("SubscribeToTask", { id })).toEqual({ id });
      }),
    );
  });

  it("preserve push configurations in a round trip [V-10]", () => {
    fc.assert(
      fc.property(pushConfigArbitrary, idArbitrary, idArbitrary, (generated, taskId, configId) => {
        const config = { ...cloneAsJson(generated), taskId };
        const kept = { ...config, id: configId };
        expect(roundTripParams("CreateTaskPushNotificationConfig", config)).toEqual({
          id: "default",
          ...config,
        });
        expect(roundTripResult("GetTaskPushNotificationConfig", kept)).toEqual(kept);
        expect(roundTripResult("ListTaskPushNotificationConfigs", { configs: [kept] })).toEqual({
          configs: [kept],
        });
        const name = { taskId, id: configId };
        expect(roundTripParams("GetTaskPushNotificationConfig", name)).toEqual(name);
        expect(roundTripParams("DeleteTaskPushNotificationConfig", name)).toEqual(name);
      }),
    );
  });

  it("decode and encode the same JSON [V-02, V-03]", () => {
    fc.assert(
      fc.property(arbitraries.event, (event) => {
        const text = server.encodeEvent(LogEvent.create(1, cloneAsJson(event)));
        const read = client.decodeResult("SendStreamingMessage", JSON.parse(text) as unknown);
        expect(JSON.parse(server.encodeEvent(LogEvent.create(1, read)))).toEqual(JSON.parse(text));
      }),
    );
  });

  const nearMiss = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 6 }, fc.jsonValue(), tie("object"), fc.array(tie("value"), { maxLength: 3 })),
    object: fc.dictionary(
      fc.constantFrom(
        ..."message kind text file data parts content role task artifact messageId status state id".split(
          " ",
        ),
        ..."uri bytes name parent config pushNotificationConfig taskId __proto__ value metadata".split(" "),
      ),
      tie("value"),
      { maxKeys: 6 },
    ),
  }));

  it("accept any input or reject it with violations", () => {
    const operations: OperationName[] = [
      "SendMessage",
      "SendStreamingMessage",
      "GetTask",
      "CancelTask",
      "CreateTaskPushNotificationConfig",
      "GetTaskPushNotificationConfig",
      "ListTaskPushNotificationConfigs",
      "GetExtendedAgentCard",
    ];
    fc.assert(
      fc.property(fc.constantFrom(...operations), nearMiss.value, (operation, input) => {
        const readings = [
          () => server.decodeParams(operation, input),
          () => client.decodeResult(operation, input),
          () => decodeCard(input),
        ];
        for (const read of readings) {
          try {
            read();
          } catch (error) {
            expect(error).toBeInstanceOf(A2AError);
            expect((error as A2AError).violations).not.toEqual([]);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
