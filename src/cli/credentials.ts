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

  /** A `fetch` that carries them. */
  carriedBy(send: typeof fetch): typeof fetch {
    return (input, init) => {
      const request = new Request(input, init);
      if (this.#bearer !== undefined) request.headers.set("Authorization", `Bearer ${this.#bearer}`);
      if (this.#apiKey === undefined) return send(request);
      const { location, name } = this.#place;
      if (location === "header") request.headers.set(name, this.#apiKey);
      if (location === "cookie") request.headers.append("Cookie", `${name}=${this.#apiKey}`);
      if (location !== "query") return send(request);
      const url = new URL(request.url);
      url.searchParams.set(name, this.#apiKey);
      return send(new Request(url, request));
    };
  }
}
