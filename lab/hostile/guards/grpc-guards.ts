import type { Guard } from "./guard.ts";

/** Guards of the gRPC listener. */
export const GRPC_GUARDS: readonly Guard[] = [
  {
    name: "grpc-request-share",
    file: "src/server/bindings/grpc.ts",
    find: "call.receiveRequest((size) => byteAccount.reserveBodyBytes(size))",
    replace: "call.receiveRequest(() => {})",
    noticedBy: { attack: "grpc-half-messages-of-caller" },
  },
  {
    name: "grpc-authentication-before-message",
    file: "src/server/bindings/grpc.ts",
    find: "    const caller = await authenticateCaller(request, this.#context.authenticate);",
    replace:
      "    await call.receiveRequest(() => {}); const caller = await authenticateCaller(request, this.#context.authenticate);",
    noticedBy: { attack: "grpc-half-messages" },
  },
  {
    name: "grpc-write-stall",
    file: "src/wire/grpc/grpc-server-call.ts",
    find: "this.#stopWatch = this.#watchWrite(() => this.#stream.close(constants.NGHTTP2_CANCEL));",
    replace: "",
    noticedBy: { test: "src/server/bindings/grpc-abuse.test.ts" },
  },
  {
    name: "grpc-call-share",
    file: "src/server/bindings/grpc.ts",
    find: "this.#releaseCall = this.#openCalls.acquire(this.byteAccount.holderKey);",
    replace: "",
    noticedBy: { test: "src/server/bindings/grpc-abuse.test.ts" },
  },
  {
    name: "grpc-compression-refused",
    file: "src/wire/grpc/request-message-decoder.ts",
    find: "if (this.#prefix[0] !== 0) {",
    replace: "if (this.#prefix[0] === 2) {",
    noticedBy: { test: "src/wire/grpc/request-message-decoder.test.ts" },
  },
  {
    name: "grpc-tiny-frames",
    file: "src/wire/grpc/request-message-decoder.ts",
    find: "if (++this.#chunks > FREE_CHUNKS + this.#messageBytes / MIN_AVERAGE_CHUNK_BYTES)",
    replace: "if (++this.#chunks < 0)",
    noticedBy: { test: "src/wire/grpc/request-message-decoder.test.ts" },
  },
  {
    name: "grpc-header-size",
    file: "src/wire/grpc/grpc-request-headers.ts",
    find: "if (measureHeaderLength(headers) > MAX_HEADER_LENGTH) return { httpStatus: 431 };",
    replace: "",
    noticedBy: { test: "src/server/bindings/grpc-abuse.test.ts" },
  },
  {
    name: "grpc-receive-timeout",
    file: "src/wire/grpc/grpc-server-call.ts",
    find: "this.#endAfterReceiveTimeout(receiveMs), receiveMs)",
    replace: "{}, receiveMs)",
    noticedBy: { test: "src/wire/grpc/grpc-listener.test.ts" },
  },
  {
    name: "grpc-idle-connection",
    file: "src/wire/grpc/grpc-listener.ts",
    find: "closeConnection(this.#session)",
    replace: "undefined",
    noticedBy: { test: "src/wire/grpc/connection-supervisor.test.ts" },
  },
  {
    name: "refused-message-frees-call",
    file: "src/wire/grpc/grpc-server-call.ts",
    find: "    this.#stream.resume();",
    replace: "",
    noticedBy: { test: "src/server/bindings/grpc-abuse.test.ts" },
  },
  {
    name: "grpc-calls-per-turn",
    file: "src/server/bindings/grpc.ts",
    find: "new FairTurnQueue(CALLS_PER_TURN)",
    replace: "new FairTurnQueue(Infinity)",
    noticedBy: { attack: "grpc-half-messages-of-caller" },
  },
];
