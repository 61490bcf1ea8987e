import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type AuthConfig, AuthCredentialTypes, type Event, InMemorySessionService } from "@google/adk";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { connect } from "../../../client/index.ts";
import { bearer } from "../../../server/auth/index.ts";
import { adkAgent } from "../adk-agent.ts";
import {
  TestAdkConversation,
  createScriptedLlmAgent,
  createTestRemoteAgent,
  listFinalEventTexts,
  serveAgentForTest,
} from "./test-adk-conversation.fixture.ts";

/**
 * A real token endpoint that exchanges the code `good` for an access token. ADK accepts no token endpoint on
 * this machine, so the endpoint gets a public name.
 */
async function startTokenEndpoint(): Promise<{ url: string; bodies: string[] }> {
  const bodies: string[] = [];
  const server = createHttpServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      bodies.push(body);
      const isGood = new URLSearchParams(body).get("code") === "good";
      response.writeHead(isGood ? 200 : 400, { "content-type": "application/json" });
      response.end(JSON.stringify(isGood ? { access_token: "T0KEN", expires_in: 3600 } : { error: "bad" }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const local = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  const realFetch = globalThis.fetch;
  vi.stubGlobal("fetch", (input: string, init: RequestInit) =>
    realFetch(input === TOKEN_URL ? local : input, init),
  );
  onTestFinished(() => void vi.unstubAllGlobals());
  return { url: TOKEN_URL, bodies };
}

const TOKEN_URL = "https://login.test/token";

const createAuthConfig = (tokenUrl: string): AuthConfig => ({
  authScheme: {
    type: "oauth2",
    flows: {
      authorizationCode: { authorizationUrl: "https://login.test/authorize", tokenUrl, scopes: { read: "" } },
    },
  },
  rawAuthCredential: {
    authType: AuthCredentialTypes.OAUTH2,
    oauth2: { clientId: "app", clientSecret: "S3CRET", redirectUri: "https://app.test/back" },
  },
  credentialKey: "peer",
});

/** Serves a peer that accepts only one token and answers with the user's words. */
function servePeer(token = "T0KEN"): Promise<string> {
  const authenticate = bearer({
    verifyToken: (given) => (given === token ? { tenant: "", principal: "ada" } : undefined),
  });
  return serveAgentForTest(adkAgent(createScriptedLlmAgent("far", ({ text }) => `You said ${text}.`)), {
    authenticate,
  });
}

const findRequest = (events: readonly Event[]): { id: string; args: Record<string, never> } => {
  const [call] = events.flatMap(
    ({ content }) => content?.parts?.flatMap((part) => part.functionCall ?? []) ?? [],
  );
  expect(call?.name).toBe("adk_request_credential");
  return call as never;
};

const createAnswer = (id: string, authConfig: object, uri: string): object[] => {
  const exchangedAuthCredential = { authType: "oauth2", oauth2: { authResponseUri: uri } };
  const response = { ...authConfig, exchangedAuthCredential };
  return [{ functionResponse: { id, name: "adk_request_credential", response } }];
};

interface CredentialRequestArgs {
  authConfig: { exchangedAuthCredential: { oauth2: { authUri: string; state: string } } };
}

describe("a remote agent with OAuth", () => {
  it("asks its user to sign in, and then sends the user's first message", async () => {
    const { url: tokenUrl, bodies } = await startTokenEndpoint();
    const sessionService = new InMemorySessionService();
    const agent = createTestRemoteAgent(await servePeer(), { auth: createAuthConfig(tokenUrl) });
    const conversation = new TestAdkConversation(agent, { sessionService });

    const asked = await conversation.sendUserMessage("hello");
    const { id, args } = findRequest(asked);
    expect(asked.at(-1)?.longRunningToolIds).toEqual([id]);
    const { authConfig } = args as unknown as CredentialRequestArgs;
    const { authUri, state } = authConfig.exchangedAuthCredential.oauth2;
    expect(authUri).toMatch(/^https:\/\/login\.test\/authorize\?.*client_id=app/);

    const back = `https://app.test/back?code=good&state=${state}`;
    const answered = await conversation.sendUserMessage(createAnswer(id, authConfig, back));
    expect(listFinalEventTexts(answered)).toEqual(["remote: You said hello."]);
    expect(bodies).toHaveLength(1);

    expect(listFinalEventTexts(await conversation.sendUserMessage("again"))).toEqual([
      "remote: You said again.",
    ]);
    expect(bodies, "the token is kept").toHaveLength(1);

    const session = await sessionService.getSession({ appName: "app", userId: "u", sessionId: "s" });
    expect(JSON.stringify(session)).not.toMatch(/S3CRET|T0KEN/);
  });

  it("asks again if the answer has another state, and after the peer rejects the token", async () => {
    const { url: tokenUrl } = await startTokenEndpoint();
    const agent = createTestRemoteAgent(await servePeer("OTHER"), { auth: createAuthConfig(tokenUrl) });
    const conversation = new TestAdkConversation(agent);
    const first = findRequest(await conversation.sendUserMessage("hello"));
    const { authConfig } = first.args as unknown as CredentialRequestArgs;
    const forged = createAnswer(first.id, authConfig, "https://app.test/back?code=good&state=forged");
    expect(await conversation.sendUserMessage(forged)).toMatchObject([
      { errorMessage: expect.stringContaining("State mismatch") as unknown },
    ]);
    const second = findRequest(await conversation.sendUserMessage("please"));
    const args = second.args as unknown as CredentialRequestArgs;
    const { state } = args.authConfig.exchangedAuthCredential.oauth2;
    const good = createAnswer(second.id, args.authConfig, `https://app.test/back?code=good&state=${state}`);
    expect(await conversation.sendUserMessage(good)).toMatchObject([{ errorCode: "A2A_UNAUTHENTICATED" }]);
    findRequest(await conversation.sendUserMessage("once more"));
  });

  it("sends a token of the configuration without asking", async () => {
    const auth: AuthConfig = {
      authScheme: { type: "http", scheme: "bearer" },
      rawAuthCredential: {
        authType: AuthCredentialTypes.HTTP,
        http: { scheme: "bearer", credentials: { token: "T0KEN" } },
      },
      credentialKey: "peer",
    };
    const conversation = new TestAdkConversation(createTestRemoteAgent(await servePeer(), { auth }));
    expect(listFinalEventTexts(await conversation.sendUserMessage("hi"))).toEqual(["remote: You said hi."]);
  });

  it("makes a served task wait with AUTH_REQUIRED, and the caller's answer continues the task", async () => {
    const { url: tokenUrl } = await startTokenEndpoint();
    const remote = createTestRemoteAgent(await servePeer(), { auth: createAuthConfig(tokenUrl) });
    const client = await connect(await serveAgentForTest(adkAgent(remote)));
    const asked = await client.send("hello", { configuration: { returnImmediately: false } });
    if (!("task" in asked)) throw new Error("no task");
    expect(asked.task.status.state).toBe("TASK_STATE_AUTH_REQUIRED");
    const [part] = asked.task.status.message?.parts ?? [];
    if (!part || !("data" in part)) throw new Error("no call");
    const { id, args } = part.data as unknown as { id: string; args: CredentialRequestArgs };
    const { state } = args.authConfig.exchangedAuthCredential.oauth2;
    const uri = `https://app.test/back?code=good&state=${state}`;
    const [answer] = createAnswer(id, args.authConfig, uri) as [{ functionResponse: { response: object } }];
    const parts = [{ data: JSON.parse(JSON.stringify(answer.functionResponse)) as never }];
    const done = await client.send(parts, { taskId: asked.task.id });
    expect(JSON.stringify("task" in done && done.task.artifacts)).toContain("You said hello.");
  });
});
