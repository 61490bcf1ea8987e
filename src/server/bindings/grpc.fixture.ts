import { decodeErrorInfo, decodeStatus } from "@a2a-js/sdk/errors/grpc";
import * as grpc from "@grpc/grpc-js";
import { v1 } from "../../grpc/index.ts";
import type { JsonObject, OperationName } from "../../protocol/index.ts";

/** How a call ended, as anybody with gRPC sees it: the details are read by the official SDK. */
export interface Ended {
  readonly code: string;
  readonly message: string;
  readonly reason?: string;
  readonly domain?: string;
  readonly types: readonly string[];
}

/** Calls of 1.0 with nothing of our client in between: JSON in, JSON out. */
export class Caller {
  readonly #client: grpc.Client;

  constructor(port: number) {
    this.#client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  }

  close(): void {
    this.#client.close();
  }

  /** The answer, or how it failed. `request`: JSON, or bytes as they are. */
  call(
    operation: OperationName,
    request: object | Uint8Array,
    headers: Record<string, string> = {},
    options: grpc.CallOptions = {},
  ): Promise<{ answer?: JsonObject; headers?: grpc.Metadata; ended?: Ended }> {
    const method = v1.methods[operation]!;
    return new Promise((resolve) => {
      let initial: grpc.Metadata | undefined;
      this.#client
        .makeUnaryRequest(
          method.path,
          (binary: Uint8Array) => Buffer.from(binary),
          (binary: Buffer) => method.response.decode(binary),
          request instanceof Uint8Array ? request : method.request.encode(request),
          metadataOf(headers),
          options,
          (error, answer) =>
            resolve({
              ...(error ? { ended: endedOf(error) } : {}),
              ...(answer ? { answer } : {}),
              ...(initial ? { headers: initial } : {}),
            }),
        )
        .on("metadata", (metadata) => (initial = metadata));
    });
  }

  open(
    operation: OperationName,
    request: object,
    headers: Record<string, string> = {},
  ): grpc.ClientReadableStream<JsonObject> {
    const method = v1.methods[operation]!;
    return this.#client.makeServerStreamRequest(
      method.path,
      (binary: Uint8Array) => Buffer.from(binary),
      (binary: Buffer) => method.response.decode(binary),
      method.request.encode(request),
      metadataOf(headers),
    );
  }
}

/** All events of a stream, and how it ended if it failed. */
export async function readStream(
  stream: AsyncIterable<unknown>,
): Promise<{ events: JsonObject[]; ended?: Ended }> {
  const events: JsonObject[] = [];
  try {
    for await (const event of stream) events.push(event as JsonObject);
    return { events };
  } catch (error) {
    return { events, ended: endedOf(error as grpc.ServiceError) };
  }
}

function endedOf({ code, details, metadata }: grpc.ServiceError): Ended {
  const [binary] = metadata.get("grpc-status-details-bin");
  const status = binary ? decodeStatus(binary as Buffer) : undefined;
  const any = status?.details ?? [];
  const info = any.find(({ typeUrl }) => typeUrl.endsWith("ErrorInfo"));
  return {
    code: grpc.status[code],
    message: details,
    types: any.map(({ typeUrl }) => typeUrl),
    ...(info ? decodeErrorInfo(info.value) : {}),
  };
}

function metadataOf(headers: Record<string, string>): grpc.Metadata {
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}
