import type { SecurityScheme } from "../../protocol/index.ts";
import {
  buildTestAgentCard,
  type RecordedTestRequest,
  sendTestJsonResponse,
  startRequestRecordingTestServer,
} from "../../client/request-recording-test-server.fixture.ts";
import type { FakeAuthorizationServer } from "./fake-authorization-server.fixture.ts";

export interface ProtectedTestAgent {
  readonly url: string;
  readonly seen: RecordedTestRequest[];
  /** The `Authorization` headers of all requests, without those for the card. */
  readonly listAuthorizations: () => (string | undefined)[];
}

const TASK = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };

/** Starts an agent that accepts the tokens of an authorization server. `about` replaces members of its card. */
export async function startProtectedTestAgent(
  authorizationServer: FakeAuthorizationServer,
  scheme: SecurityScheme,
  about: object = {},
): Promise<ProtectedTestAgent> {
  let url = "";
  const server = await startRequestRecordingTestServer((response, { url: path, headers, body }) => {
    if (path.includes("/.well-known/"))
      sendTestJsonResponse(
        response,
        buildTestAgentCard(url, {
          securitySchemes: { login: scheme },
          securityRequirements: [{ schemes: { login: { list: ["use"] } } }],
          capabilities: {},
          ...about,
        }),
      );
    else if (authorizationServer.accepts(headers.authorization))
      sendTestJsonResponse(response, { jsonrpc: "2.0", id: body.id, result: TASK });
    else
      sendTestJsonResponse(
        response,
        { jsonrpc: "2.0", id: body.id, error: { code: -32000, message: "who" } },
        401,
      );
  });
  ({ url } = server);
  const listAuthorizations = (): (string | undefined)[] =>
    server.seen
      .filter((request) => !request.url.includes("/.well-known/"))
      .map(({ headers }) => headers.authorization);
  return { url, seen: server.seen, listAuthorizations };
}

export const createDeviceScheme = (server: string): SecurityScheme => ({
  oauth2SecurityScheme: {
    flows: {
      deviceCode: { deviceAuthorizationUrl: `${server}/device`, tokenUrl: `${server}/token`, scopes: {} },
    },
  },
});

export const createCodeScheme = (server: string, page: string = server): SecurityScheme => ({
  oauth2SecurityScheme: {
    flows: {
      authorizationCode: { authorizationUrl: `${page}/authorize`, tokenUrl: `${server}/token`, scopes: {} },
    },
  },
});

export const createClientScheme = (server: string): SecurityScheme => ({
  oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: `${server}/token`, scopes: {} } } },
});

export const createOpenIdScheme = (server: string): SecurityScheme => ({
  openIdConnectSecurityScheme: { openIdConnectUrl: `${server}/.well-known/openid-configuration` },
});
