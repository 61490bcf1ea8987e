import { A2AError } from "../protocol/index.ts";
import type { ByteAccount } from "./byte-ledger/byte-ledger.ts";
import type { ClientCertificate, HttpRequest } from "./http-exchange.ts";

/**
 * A request to a server with a `basePath`. `BasePathRequest` removes `basePath` from the path and appends
 * `basePath` to the origin. The router can therefore ignore `basePath`.
 */
export class BasePathRequest implements HttpRequest {
  readonly path: string;
  readonly #request: HttpRequest;
  readonly #basePath: string;

  /**
   * Throws NOT_FOUND if the path is outside `basePath`. If a host app removed `basePath` from request paths,
   * agent cards would contain wrong URLs.
   */
  constructor(request: HttpRequest, basePath: string) {
    const { path } = request;
    if (path !== basePath && !path.startsWith(`${basePath}/`)) {
      const text = `The path ${path.slice(0, 200)} is outside the basePath ${basePath} of this server; make the host pass full paths.`;
      throw new A2AError("NOT_FOUND", text);
    }
    this.#request = request;
    this.#basePath = basePath;
    this.path = path.slice(basePath.length) || "/";
  }

  get method(): string {
    return this.#request.method;
  }
  get query(): string {
    return this.#request.query;
  }
  get authority(): string | undefined {
    return this.#request.authority;
  }
  get origin(): string {
    return this.#request.origin + this.#basePath;
  }
  get remoteAddress(): string | undefined {
    return this.#request.remoteAddress;
  }
  get byteAccount(): ByteAccount | undefined {
    return this.#request.byteAccount;
  }

  header(name: string): string | undefined {
    return this.#request.header(name);
  }

  text(maxBytes: number): string | Promise<string> {
    return this.#request.text(maxBytes);
  }

  certificate(): ClientCertificate | undefined {
    return this.#request.certificate?.();
  }
}
