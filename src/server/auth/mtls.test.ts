import { once } from "node:events";
import { createServer as createHttps, request } from "node:https";
import type { AddressInfo } from "node:net";
import * as grpc from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { GRPC_SERVICE_V1 } from "../../wire/grpc/index.ts";
import { createServer } from "../index.ts";
import { whoamiTestAgent } from "./auth-test-server.fixture.ts";
import {
  ADA_CERT,
  ADA_TLS_PRIVATE_KEY,
  TEST_CA_CERT,
  UNTRUSTED_EVE_CERT,
  UNTRUSTED_EVE_TLS_PRIVATE_KEY,
  TEST_SERVER_CERT,
  TEST_SERVER_TLS_PRIVATE_KEY,
} from "./certificates.fixture.ts";
import { mtls, type MtlsOptions } from "./index.ts";

interface TlsTestServer extends AsyncDisposable {
  fetchCaller(client?: { cert: string; key: string }): Promise<{ status: number; body: string }>;
}

/** A server that ends TLS and requests client certificates, but does not require them. */
async function startTlsServer(options?: MtlsOptions): Promise<TlsTestServer> {
  const server = createServer(whoamiTestAgent, { store: "memory", authenticate: mtls(options) });
  const https = createHttps(
    {
      cert: TEST_SERVER_CERT,
      key: TEST_SERVER_TLS_PRIVATE_KEY,
      ca: TEST_CA_CERT,
      requestCert: true,
      rejectUnauthorized: false,
    },
    server.listener,
  );
  await once(https.listen(0, "127.0.0.1"), "listening");
  const { port } = https.address() as AddressInfo;
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "Who am I?" }] };
  return {
    fetchCaller: async (client) => {
      const headers = { "a2a-version": "1.0", "content-type": "application/json" };
      const sent = request({
        port,
        host: "127.0.0.1",
        path: "/message:send",
        method: "POST",
        headers,
        ca: TEST_CA_CERT,
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
  it("authenticate their subject when TLS has verified them [M-01]", async () => {
    await using server = await startTlsServer();
    const { status, body } = await server.fetchCaller({ cert: ADA_CERT, key: ADA_TLS_PRIVATE_KEY });
    expect([status, body.includes(String.raw`\"principal\":\"C=DE, O=Example, CN=ada\"`)]).toEqual([
      200,
      true,
    ]);
  });

  it("are ignored when they are missing or not trusted [M-01]", async () => {
    await using server = await startTlsServer();
    expect(await server.fetchCaller()).toMatchObject({ status: 401 });
    expect(
      await server.fetchCaller({ cert: UNTRUSTED_EVE_CERT, key: UNTRUSTED_EVE_TLS_PRIVATE_KEY }),
    ).toMatchObject({
      status: 401,
    });
  });

  it("can be mapped by a custom function", async () => {
    const email = (name = ""): string | undefined => /email:([^,]+)/.exec(name)?.[1];
    await using server = await startTlsServer({ mapIdentity: ({ subjectAltName }) => email(subjectAltName) });
    expect((await server.fetchCaller({ cert: ADA_CERT, key: ADA_TLS_PRIVATE_KEY })).body).toContain(
      "ada@example.com",
    );
    await using closed = await startTlsServer({ mapIdentity: () => undefined });
    expect(await closed.fetchCaller({ cert: ADA_CERT, key: ADA_TLS_PRIVATE_KEY })).toMatchObject({
      status: 401,
    });
  });
});

describe("client certificates over gRPC", () => {
  const ask = async (port: number, cert: string, key: string): Promise<string> => {
    const bytes = (pem: string): Buffer => Buffer.from(pem);
    const credentials = grpc.credentials.createSsl(bytes(TEST_CA_CERT), bytes(key), bytes(cert));
    const client = new grpc.Client(`localhost:${port}`, credentials);
    const { path, request, response } = GRPC_SERVICE_V1.methods.SendMessage!;
    const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "Who am I?" }] };
    return new Promise<string>((resolve) => {
      const onResult = (error: grpc.ServiceError | null, answer?: unknown): void =>
        resolve(error ? (grpc.status[error.code] ?? "") : JSON.stringify(answer));
      client.makeUnaryRequest(
        path,
        (binary: Uint8Array) => Buffer.from(binary),
        (binary: Buffer) => response.decode(binary),
        request.encode({ message }),
        onResult,
      );
    }).finally(() => client.close());
  };

  it("authenticate their subject, and reject certificates of other authorities [M-01]", async () => {
    const server = createServer(whoamiTestAgent, { store: "memory", authenticate: mtls() });
    const tls = { key: TEST_SERVER_TLS_PRIVATE_KEY, cert: TEST_SERVER_CERT, clientCa: TEST_CA_CERT };
    const { grpc: at } = await server.listen({ grpc: { tls } });
    expect(await ask(at?.port ?? 0, ADA_CERT, ADA_TLS_PRIVATE_KEY)).toContain(
      String.raw`\"principal\":\"C=DE, O=Example, CN=ada\"`,
    );
    expect(await ask(at?.port ?? 0, UNTRUSTED_EVE_CERT, UNTRUSTED_EVE_TLS_PRIVATE_KEY)).toBe("UNAVAILABLE");
    await server.close();
  });
});
