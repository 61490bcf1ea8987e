import { isStreamingOperation, type OperationName } from "../../protocol/index.ts";
import type { OperationMessages, ProtocolVersion } from "../index.ts";
import * as v0_3 from "../v0_3/index.ts";
import * as v1 from "../v1/index.ts";
import { createMessageCodecs, type MessageCodec } from "./message-codec.ts";

/**
 * A method of a gRPC service, with its path and its message codecs.
 */
export interface GrpcMethod {
  readonly operation: OperationName;
  /** HTTP/2 path of the gRPC method, in the form `/package.Service/Method`. */
  readonly path: string;
  readonly isStreaming: boolean;
  readonly request: MessageCodec;
  /** Codec for the response message, or for each message in a response stream. */
  readonly response: MessageCodec;
}

/** The gRPC service of one protocol version. */
export interface GrpcService {
  readonly version: ProtocolVersion;
  readonly name: string;
  /** Methods by operation. Some protocol versions do not have all operations. */
  readonly methods: Readonly<Partial<Record<OperationName, GrpcMethod>>>;
}

/** Creates the definition of a gRPC service from the messages of its operations. */
function defineGrpcService(
  version: ProtocolVersion,
  name: string,
  getCodec: (name: string) => MessageCodec,
  messages: Partial<OperationMessages>,
): GrpcService {
  const methods: Partial<Record<OperationName, GrpcMethod>> = {};
  for (const operation of Object.keys(messages) as OperationName[]) {
    const [request, response, method = operation] = messages[operation]!;
    methods[operation] = {
      operation,
      path: `/${name}/${method}`,
      isStreaming: isStreamingOperation(operation),
      request: getCodec(request),
      response: getCodec(response),
    };
  }
  return { version, name, methods };
}

/** The gRPC service of A2A 1.0 (A2A §10). */
export const GRPC_SERVICE_V1: GrpcService = defineGrpcService(
  "1.0",
  "lf.a2a.v1.A2AService",
  createMessageCodecs(v1.MESSAGES, v1.ENUMS),
  v1.OPERATION_MESSAGES,
);

/** The gRPC service of A2A 0.3, which has no `ListTasks`. */
export const GRPC_SERVICE_V0_3: GrpcService = defineGrpcService(
  "0.3",
  "a2a.v1.A2AService",
  createMessageCodecs(v0_3.PROTO_MESSAGES, v0_3.PROTO_ENUMS),
  v0_3.PROTO_OPERATION_MESSAGES,
);
