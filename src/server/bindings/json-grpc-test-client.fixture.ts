import { decodeErrorInfo, decodeStatus } from "@a2a-js/sdk/errors/grpc";
import * as grpc from "@grpc/grpc-js";
import { GRPC_SERVICE_V1 } from "../../wire/grpc/index.ts";
import type { JsonObject, OperationName } from "../../protocol/index.ts";

/** The status of a gRPC call, with error details that the official SDK decodes. */
export interface GrpcTestCallStatus {
  readonly code: string;
  readonly message: string;
  readonly reason?: string;
  readonly domain?: string;
  readonly detailTypes: readonly string[];
}

/** A gRPC client for A2A 1.0 that sends and returns JSON, and does not use the client of this library. */
export class JsonGrpcTestClient {
  readonly #client: grpc.Client;

  constructor(port: number) {
    this.#client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  }

  close(): void {
    this.#client.close();
  }

  /** Makes a unary call with a JSON request or raw bytes. Resolves with the response or the failed status. */
  callUnary(
    operation: OperationName,
    request: object | Uint8Array,
    headers: Record<string, string> = {},
    options: grpc.CallOptions = {},
  ): Promise<{ answer?: JsonObject; headers?: grpc.Metadata; ended?: GrpcTestCallStatus }> {
    const method = GRPC_SERVICE_V1.methods[operation]!;
    return new Promise((resolve) => {
      let initial: grpc.Metadata | undefined;
      this.#client
        .makeUnaryRequest(
          method.path,
          (binary: Uint8Array) => Buffer.from(binary),
          (binary: Buffer) => method.response.decode(binary),
          request instanceof Uint8Array ? request : method.request.encode(request),
          toGrpcTestMetadataFromHeaders(headers),
          options,
          (error, answer) =>
            resolve({
              ...(error ? { ended: toGrpcTestCallStatus(error) } : {}),
              ...(answer ? { answer } : {}),
              ...(initial ? { headers: initial } : {}),
            }),
        )
        .on("metadata", (metadata) => (initial = metadata));
    });
  }

  openStream(
    operation: OperationName,
    request: object,
    headers: Record<string, string> = {},
  ): grpc.ClientReadableStream<JsonObject> {
    const method = GRPC_SERVICE_V1.methods[operation]!;
    return this.#client.makeServerStreamRequest(
      method.path,
      (binary: Uint8Array) => Buffer.from(binary),
      (binary: Buffer) => method.response.decode(binary),
      method.request.encode(request),
      toGrpcTestMetadataFromHeaders(headers),
    );
  }
}

/** Reads all events of a stream, and the status if it failed. */
export async function readGrpcTestStream(
  stream: AsyncIterable<unknown>,
): Promise<{ events: JsonObject[]; ended?: GrpcTestCallStatus }> {
  const events: JsonObject[] = [];
  try {
    for await (const event of stream) events.push(event as JsonObject);
    return { events };
  } catch (error) {
    return { events, ended: toGrpcTestCallStatus(error as grpc.ServiceError) };
  }
}

function toGrpcTestCallStatus({ code, details, metadata }: grpc.ServiceError): GrpcTestCallStatus {
  const [binary] = metadata.get("grpc-status-details-bin");
  const status = binary ? decodeStatus(binary as Buffer) : undefined;
  const packedDetails = status?.details ?? [];
  const info = packedDetails.find(({ typeUrl }) => typeUrl.endsWith("ErrorInfo"));
  return {
    code: grpc.status[code],
    message: details,
    detailTypes: packedDetails.map(({ typeUrl }) => typeUrl),
    ...(info ? decodeErrorInfo(info.value) : {}),
  };
}

function toGrpcTestMetadataFromHeaders(headers: Record<string, string>): grpc.Metadata {
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}
