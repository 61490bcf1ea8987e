import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  importSigningKeyPair,
  generateSigningKey,
  buildJwks,
  signJwt,
  type JWK,
  type JwtClaims,
  type SigningKeyPair,
} from "./index.ts";

interface FakeOidcProviderResponse {
  readonly status?: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
}

/**
 * A small OpenID provider on a real socket. The provider serves metadata and keys, and records the requested
 * paths.
 */
export class FakeOidcProvider implements AsyncDisposable {
  readonly requestedPaths: string[] = [];
  signer!: SigningKeyPair;
  /** Responses that replace the metadata or the keys, by path. */
  readonly responseOverrides: Map<string, FakeOidcProviderResponse> = new Map<
    string,
    FakeOidcProviderResponse
  >();
  readonly #publishedSigners: SigningKeyPair[] = [];
  readonly #httpServer: Server = createServer(({ url = "" }, response) => {
    this.requestedPaths.push(url);
    const canned = this.responseOverrides.get(url) ?? this.#buildResponse(url);
    response
      .writeHead(canned.status ?? 200, { "content-type": "application/json", ...canned.headers })
      .end(canned.body);
  });

  static async start(): Promise<FakeOidcProvider> {
    const issuer = new FakeOidcProvider();
    await issuer.rotateKey();
    await new Promise<void>((resolve) => issuer.#httpServer.listen(0, "127.0.0.1", resolve));
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#httpServer.address() as AddressInfo).port}`;
  }

  get jwksUrl(): string {
    return `${this.url}/keys`;
  }

  /** Replaces the signing key. Former keys stay published unless `retire` is set. */
  async rotateKey({ retire = false, key }: { retire?: boolean; key?: JWK } = {}): Promise<void> {
    if (retire) this.#publishedSigners.length = 0;
    this.signer = await importSigningKeyPair({ privateKey: key ?? (await generateSigningKey()) });
    this.#publishedSigners.push(this.signer);
  }

  /** Returns a token of this issuer that is valid for one minute, unless `claims` override this. */
  signToken(claims: JwtClaims = {}, typ?: string): Promise<string> {
    const seconds = Math.floor(Date.now() / 1000);
    const payload = { iss: this.url, aud: "agents", sub: "ada", iat: seconds, exp: seconds + 60, ...claims };
    return signJwt(payload, this.signer, typ);
  }

  #buildResponse(path: string): FakeOidcProviderResponse {
    if (path === "/.well-known/openid-configuration") {
      return {
        body: JSON.stringify({
          issuer: this.url,
          jwks_uri: this.jwksUrl,
          token_endpoint: `${this.url}/token`,
        }),
      };
    }
    if (path === "/keys") return { body: JSON.stringify(buildJwks(this.#publishedSigners)) };
    return { status: 404, body: "{}" };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#httpServer.closeAllConnections();
    await new Promise((resolve) => this.#httpServer.close(resolve));
  }
}
