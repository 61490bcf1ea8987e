import { A2AError } from "../protocol/index.ts";
import type { ClientCertificate, HttpRequest } from "./http-exchange.ts";

/**
 * A request to a server that a host has mounted below a path of its own, seen as if that path were the root: it is taken
 * off what is asked for, and belongs to where the client has reached us.
 */
export class BasePathRequest implements HttpRequest {
  readonly path: string;
  readonly #request: HttpRequest;
  readonly #basePath: string;

  /** Throws NOT_FOUND for a path that is elsewhere: a host that has taken the path off would have every URL wrong. */
  constructor(given: HttpRequest, basePath: string) {
    const { path } = given;
    if (path !== basePath && !path.startsWith(`${basePath}/`)) {
      const text = `This server has the basePath ${basePath} and was asked for ${path.slice(0, 200)}; have the host hand on whole paths.`;
      throw new A2AError("NOT_FOUND", text);
    }
    this.#request = given;
    this.#basePath = basePath;
    this.path = path.slice(basePath.length) || "/";
  }

  get method(): string {
    return this.#request.method;
  }
  get query(): string {
    return this.#request.query;
  }
  get origin(): string {
    return this.#request.origin + this.#basePath;
  }

  header(name: string): string | undefined {
    return this.#request.header(name);
  }

  text(maxBytes: number): Promise<string> {
    return this.#request.text(maxBytes);
  }

  certificate(): ClientCertificate | undefined {
    return this.#request.certificate?.();
  }
}
