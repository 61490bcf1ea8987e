import { describe, expect, it } from "vitest";
import { connect, type ConnectOptions } from "./index.ts";
import {
  buildTestAgentCard,
  createTestJsonRpcResponder,
  type RecordedTestRequest,
  sendTestJsonResponse,
  startRequestRecordingTestServer,
} from "./request-recording-test-server.fixture.ts";

const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };
const headers = { authorization: "Bearer s3cret" };

interface CardAndAgentServers {
  readonly cardUrl: string;
  readonly agentUrl: string;
  readonly listAgentRequests: () => readonly RecordedTestRequest[];
}

/** Starts two servers with different ports: the first server serves a card that names the second server. */
async function serveCardForOtherOrigin(
  buildCard: (agentUrl: string, cardUrl: string) => object = (agentUrl) => buildTestAgentCard(agentUrl),
): Promise<CardAndAgentServers> {
  const agent = await startRequestRecordingTestServer(createTestJsonRpcResponder(task));
  const host = await startRequestRecordingTestServer((response, request) => {
    if (request.method === "GET") sendTestJsonResponse(response, buildCard(agent.url, host.url));
    else createTestJsonRpcResponder(task)(response, request);
  });
  return { cardUrl: host.url, agentUrl: agent.url, listAgentRequests: () => agent.seen };
}

describe("an agent card that names another origin", () => {
  it.each<[string, ConnectOptions]>([
    ["a bearer token", { auth: { bearer: "s3cret" } }],
    ["a function for credentials", { auth: () => headers }],
    ["headers", { headers }],
  ])("gets no credentials without confirmation: %s [SEC-30]", async (_, options) => {
    const { cardUrl, agentUrl, listAgentRequests } = await serveCardForOtherOrigin();
    await expect(connect(cardUrl, options)).rejects.toMatchObject({
      reason: "INVALID_AGENT_RESPONSE",
      message: expect.stringContaining(`set { trustedOrigins: ["${agentUrl}"] }`) as string,
    });
    expect(listAgentRequests()).toEqual([]);
    const remote = await connect(cardUrl, { ...options, trustedOrigins: [agentUrl] });
    await remote.tasks.get("t");
    expect(listAgentRequests()[0]?.headers.authorization).toBe("Bearer s3cret");
  });

  it("gets no headers of single calls, but serves calls without credentials", async () => {
    const { cardUrl, listAgentRequests } = await serveCardForOtherOrigin();
    const remote = await connect(cardUrl);
    expect((await remote.tasks.get("t")).id).toBe("t");
    await expect(remote.tasks.get("t", { headers })).rejects.toThrow("trustedOrigins");
    expect(listAgentRequests()).toHaveLength(1);
  });

  it("gets credentials if verifyCard accepts the card", async () => {
    const { cardUrl, listAgentRequests } = await serveCardForOtherOrigin();
    const remote = await connect(cardUrl, { auth: { bearer: "s3cret" }, verifyCard: () => true });
    await remote.tasks.get("t");
    expect(listAgentRequests()[0]?.headers.authorization).toBe("Bearer s3cret");
  });

  it("does not redirect credentials from an interface on the card's own origin", async () => {
    const { cardUrl, listAgentRequests } = await serveCardForOtherOrigin((agentUrl, cardUrl) => ({
      ...buildTestAgentCard(agentUrl),
      supportedInterfaces: [agentUrl, cardUrl].map((url) => ({
        url: `${url}/rpc`,
        protocolBinding: "JSONRPC",
        protocolVersion: "1.0",
      })),
    }));
    const remote = await connect(cardUrl, { auth: { bearer: "s3cret" } });
    expect(remote.agentInterface.url).toBe(`${cardUrl}/rpc`);
    await remote.tasks.get("t");
    expect(listAgentRequests()).toEqual([]);
  });

  it("gets no client secret at its token URL [SEC-31]", async () => {
    const { cardUrl, agentUrl, listAgentRequests } = await serveCardForOtherOrigin((agentUrl, cardUrl) =>
      buildTestAgentCard(cardUrl, {
        securitySchemes: {
          machine: {
            oauth2SecurityScheme: {
              flows: { clientCredentials: { tokenUrl: `${agentUrl}/token`, scopes: {} } },
            },
          },
        },
      }),
    );
    const auth = { oauthClient: { id: "i", secret: "s3cret" } };
    const remote = await connect(cardUrl, { auth });
    await expect(remote.tasks.get("t")).rejects.toThrow(`issuer: "${agentUrl}"`);
    expect(listAgentRequests()).toEqual([]);
    const confirmed = await connect(cardUrl, { auth, trustedOrigins: [agentUrl] });
    await expect(confirmed.tasks.get("t")).rejects.toThrow("issued no token");
    expect(listAgentRequests()[0]?.url).toBe("/token");
  });
});

it("trustedOrigins accepts only origins", async () => {
  const failure = connect("http://localhost:1", { trustedOrigins: ["agents.example.com"] });
  await expect(failure).rejects.toMatchObject({
    reason: "INVALID_PARAMS",
    violations: [{ field: "trustedOrigins[0]" }],
  });
});
