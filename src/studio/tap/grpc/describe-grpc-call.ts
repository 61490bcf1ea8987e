import { isStreamingOperation, type JsonObject, type OperationName } from "../../../protocol/index.ts";
import type { ProtocolVersion } from "../../../wire/index.ts";
import { extractGrpcMessage } from "../frames/grpc-frame-splitter.ts";
import { describeParams, type CallDescription } from "../recording/call-description.ts";

/** A gRPC method of A2A. */
export interface TappedGrpcMethod {
  readonly version: ProtocolVersion;
  readonly operation: OperationName;
  readonly isStreaming: boolean;
  readonly decodeRequest: MessageDecoder;
  readonly decodeResponse: MessageDecoder;
  /** Encodes ProtoJSON to a binary message. */
  readonly encodeResponse: (json: JsonObject) => Uint8Array;
}

/** Decodes a binary message to ProtoJSON. Throws if the bytes are not a valid message. */
type MessageDecoder = (binary: Uint8Array) => JsonObject;

const NO_METHODS: ReadonlyMap<string, TappedGrpcMethod> = new Map();

let methodsByPath: Promise<ReadonlyMap<string, TappedGrpcMethod>> | undefined;

/** Finds the A2A method of a path such as `/lf.a2a.v1.A2AService/SendMessage`. */
export async function findGrpcMethod(path: string): Promise<TappedGrpcMethod | undefined> {
  methodsByPath ??= loadGrpcMethods();
  return (await methodsByPath).get(path);
}

/** Without the optional packages for gRPC, the tap forwards calls without decoding them. */
async function loadGrpcMethods(): Promise<ReadonlyMap<string, TappedGrpcMethod>> {
  const grpc = await import("../../../wire/grpc/index.ts").catch(() => undefined);
  if (!grpc) return NO_METHODS;
  return new Map(
    [grpc.GRPC_SERVICE_V1, grpc.GRPC_SERVICE_V0_3].flatMap(({ version, methods }) =>
      Object.values(methods).map(
        ({ path, operation, request, response }) =>
          [
            path,
            {
              version,
              operation,
              isStreaming: isStreamingOperation(operation),
              decodeRequest: (binary) => request.decode(binary),
              decodeResponse: (binary) => response.decode(binary),
              encodeResponse: (json) => response.encode(json),
            },
          ] satisfies [string, TappedGrpcMethod],
      ),
    ),
  );
}

/** Describes a gRPC call by its path and by its request message with the prefix. */
export function describeGrpcRequest(
  path: string,
  method: TappedGrpcMethod | undefined,
  request: Buffer,
  header: (name: string) => string | undefined,
): { readonly description: CallDescription; readonly body: JsonObject | undefined } {
  if (!method)
    return { description: { binding: "GRPC", operation: path.slice(1), ids: {} }, body: undefined };
  const { version, operation } = method;
  const body = decodeGrpcFrame(method.decodeRequest, request);
  return {
    description: {
      binding: "GRPC",
      protocolVersion: version,
      a2aOperation: operation,
      operation,
      ...describeParams(operation, body ?? {}, { header }),
    },
    body,
  };
}

/** Decodes a message with its prefix, or returns `undefined` if the message is compressed or invalid. */
export function decodeGrpcFrame(decode: MessageDecoder | undefined, frame: Buffer): JsonObject | undefined {
  const message = extractGrpcMessage(frame);
  if (!message || !decode) return undefined;
  try {
    return decode(message);
  } catch {
    return undefined;
  }
}
