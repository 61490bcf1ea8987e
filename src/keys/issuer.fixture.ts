import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createSigner,
  generateSigningKey,
  publicKeys,
  signJwt,
  type JWK,
  type JwtClaims,
  type Signer,
} from "./index.ts";

interface Said {
  readonly status?: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
}

/** A small OpenID provider on a real socket: metadata, keys that can be exchanged, and a count of what was asked. */
export class Issuer implements AsyncDisposable {
  readonly asked: string[] = [];
  signer!: Signer;
  /** What it says instead of its metadata or keys, by path. */
  readonly says: Map<string, Said> = new Map<string, Said>();
  readonly #published: Signer[] = [];
  readonly #http: Server = createServer(({ url = "" }, response) => {
    this.asked.push(url);
    const said = this.says.get(url) ?? this.#says(url);
    response
      .writeHead(said.status ?? 200, { "content-type": "application/json", ...said.headers })
      .end(said.body);
  });

  static async open(): Promise<Issuer> {
    const issuer = new Issuer();
    await issuer.rotate();
    await new Promise<void>((resolve) => issuer.#http.listen(0, "127.0.0.1", resolve));
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  get jwksUrl(): string {
    return `${this.url}/keys`;
  }

  /** Signs with a new key from now on; the old ones stay published unless they are to go. */
  async rotate({ retire = false, key }: { retire?: boolean; key?: JWK } = {}): Promise<void> {
    if (retire) this.#published.length = 0;
    this.signer = await createSigner({ privateKey: key ?? (await generateSigningKey()) });
    this.#published.push(this.signer);
  }

  /** A token of this issuer that holds for a minute, unless `claims` say otherwise. */
  token(claims: JwtClaims = {}, typ?: string): Promise<string> {
    const seconds = Math.floor(Date.now() / 1000);
    const said = { iss: this.url, aud: "agents", sub: "ada", iat: seconds, exp: seconds + 60, ...claims };
    return signJwt(said, this.signer, typ);
  }

  #says(path: string): Said {
    if (path === "/.well-known/openid-configuration") {
      return {
        body: JSON.stringify({
          issuer: this.url,
          jwks_uri: this.jwksUrl,
          token_endpoint: `${this.url}/token`,
        }),
      };
    }
    if (path === "/keys") return { body: JSON.stringify(publicKeys(this.#published)) };
    return { status: 404, body: "{}" };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }
}
