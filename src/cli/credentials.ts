import type { AgentCard } from "../protocol/index.ts";
import type { ClientOptions } from "./options.ts";

/**
 * Puts what `--bearer` and `--api-key` say where the agent's card wants it (A2A §4.5). None of it appears in anything
 * that is printed.
 */
export class Credentials {
  readonly #bearer: string | undefined;
  readonly #apiKey: string | undefined;
  #place: { location: "query" | "header" | "cookie"; name: string } = {
    location: "header",
    name: "X-API-Key",
  };

  constructor({ bearer, apiKey }: ClientOptions) {
    this.#bearer = bearer;
    this.#apiKey = apiKey;
  }

  useCard({ securitySchemes = {} }: AgentCard): void {
    for (const scheme of Object.values(securitySchemes)) {
      if ("apiKeySecurityScheme" in scheme) this.#place = scheme.apiKeySecurityScheme;
    }
  }

  /**
   * A `fetch` that carries them. It passes on what it was given and makes no `Request` of it: a signal reaches `fetch` by
   * way of a `Request` only until that is collected, and a stream would go on for ever.
   */
  carriedBy(send: typeof fetch): typeof fetch {
    return (input, init = {}) => {
      const headers = new Headers(init.headers);
      if (this.#bearer !== undefined) headers.set("Authorization", `Bearer ${this.#bearer}`);
      if (this.#apiKey === undefined) return send(input, { ...init, headers });
      const { location, name } = this.#place;
      if (location === "header") headers.set(name, this.#apiKey);
      if (location === "cookie") headers.append("Cookie", `${name}=${this.#apiKey}`);
      if (location !== "query") return send(input, { ...init, headers });
      const url = new URL(urlOf(input));
      url.searchParams.set(name, this.#apiKey);
      return send(url, { ...init, headers });
    };
  }
}

/** Where a request goes. */
export function urlOf(input: string | URL | Request): string {
  return input instanceof Request ? input.url : String(input);
}
