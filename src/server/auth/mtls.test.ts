import { once } from "node:events";
import { createServer as createHttps, request } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { createServer } from "../index.ts";
import { mirror } from "./auth.fixture.ts";
import { ADA, ADA_KEY, CA, EVE, EVE_KEY, SERVER, SERVER_KEY } from "./certificates.fixture.ts";
import { mtls, type MtlsOptions } from "./index.ts";

interface Tls extends AsyncDisposable {
  whoami(client?: { cert: string; key: string }): Promise<{ status: number; body: string }>;
}

/** A server that ends TLS itself, and asks for certificates without insisting on them. */
async function open(options?: MtlsOptions): Promise<Tls> {
  const server = createServer(mirror, { store: "memory", authenticate: mtls(options) });
  const https = createHttps(
    { cert: SERVER, key: SERVER_KEY, ca: CA, requestCert: true, rejectUnauthorized: false },
    server.listener,
  );
  await once(https.listen(0, "127.0.0.1"), "listening");
  const { port } = https.address() as AddressInfo;
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "Who am I?" }] };
  return {
    whoami: async (client) => {
      const headers = { "a2a-version": "1.0", "content-type": "application/json" };
      const sent = request({
        port,
        host: "127.0.0.1",
        path: "/message:send",
        method: "POST",
        headers,
        ca: CA,
        agent: false,
        ...client,
      });
      sent.end(JSON.stringify({ message }));
      const [response] = (await once(sent, "response")) as [NodeJS.ReadableStream & { statusCode: number }];
      let body = "";
      for await (const chunk of response) body += String(chunk);
      return { status: response.statusCode, body };
    },
    [Symbol.asyncDispose]: async () => {
      https.close();
      await server.close();
    },
  };
}

describe("client certificates", () => {
  it("let in whom their subject names, when TLS has verified them [M-01]", async () => {
    await using server = await open();
    const { status, body } = await server.whoami({ cert: ADA, key: ADA_KEY });
    expect([status, body.includes(String.raw`\"principal\":\"C=DE, O=Example, CN=ada\"`)]).toEqual([
      200,
      true,
    ]);
  });

  it("of nobody's, or of an authority that is not trusted, are none [M-01]", async () => {
    await using server = await open();
    expect(await server.whoami()).toMatchObject({ status: 401 });
    expect(await server.whoami({ cert: EVE, key: EVE_KEY })).toMatchObject({ status: 401 });
  });

  it("may be read by a function of one's own", async () => {
    const email = (name = ""): string | undefined => /email:([^,]+)/.exec(name)?.[1];
    await using server = await open({ principal: ({ subjectAltName }) => email(subjectAltName) });
    expect((await server.whoami({ cert: ADA, key: ADA_KEY })).body).toContain("ada@example.com");
    await using closed = await open({ principal: () => undefined });
    expect(await closed.whoami({ cert: ADA, key: ADA_KEY })).toMatchObject({ status: 401 });
  });
});
