import type { GrpcServerCall } from "../../wire/grpc/index.ts";
import { A2AError, type JsonObject } from "../../protocol/index.ts";
import { negotiateVersion, type ProtocolVersion } from "../../wire/index.ts";
import type { ByteAccount } from "../byte-ledger/byte-ledger.ts";
import type { ClientCertificate, RequestMetadata } from "../http-exchange.ts";

/** The metadata of a gRPC call, as the server sees the metadata of an HTTP request. */
export class GrpcRequest implements RequestMetadata {
  readonly method = "POST";
  readonly query = "";
  readonly path: string;
  readonly remoteAddress: string | undefined;
  readonly byteAccount: ByteAccount;
  readonly #call: GrpcServerCall;
  readonly #publicUrl: string | undefined;
  readonly #httpPort: number;

  constructor(
    call: GrpcServerCall,
    byteAccount: ByteAccount,
    publicUrl: string | undefined,
    httpPort: number,
  ) {
    this.path = call.method.path;
    this.remoteAddress = call.remoteAddress;
    this.byteAccount = byteAccount;
    this.#call = call;
    this.#publicUrl = publicUrl;
    this.#httpPort = httpPort;
  }

  header(name: string): string | undefined {
    return this.#call.header(name);
  }

  onDisconnect(callback: () => void): () => void {
    let isListening = true;
    this.#call.onClose(() => {
      if (isListening) callback();
    });
    return () => (isListening = false);
  }

  certificate(): ClientCertificate | undefined {
    return this.#call.certificate();
  }

  /** HTTP origin of this server for the client. */
  get origin(): string {
    if (this.#publicUrl !== undefined) return this.#publicUrl;
    const host = `http://${this.header("host") ?? ""}`;
    const { hostname } = new URL(URL.canParse(host) ? host : "http://127.0.0.1");
    return `http://${hostname}:${this.#httpPort}`;
  }
}

/**
 * Returns the A2A version of a gRPC call. The name of the gRPC service determines the version. Throws an
 * error if the metadata of the gRPC call specifies a different version (A2A §3.6.2).
 */
export function negotiateCallVersion(call: GrpcServerCall): ProtocolVersion {
  const { version } = call.service;
  return negotiateVersion({
    header: call.header("a2a-version"),
    query: null,
    supported: [version],
    whenMissing: "infer",
    inferredVersion: version,
  });
}

/** A member of a `Struct` is two JSON values, and four fields: the member, its name, its value, and the value's kind. */
const PROTO_FIELDS_PER_JSON_VALUE = 2;

export function decodeRequest(
  { request }: GrpcServerCall["method"],
  requestBytes: Uint8Array,
  maxJsonValues: number,
): JsonObject {
  try {
    return request.decode(requestBytes, maxJsonValues * PROTO_FIELDS_PER_JSON_VALUE);
  } catch (cause) {
    if (cause instanceof A2AError) throw cause;
    const why = cause instanceof Error ? cause.message : "unknown";
    const text = `The request is not a ${request.name} message (${why}); encode it with the a2a.proto of the specification.`;
    throw new A2AError("PARSE_ERROR", text, { cause });
  }
}
