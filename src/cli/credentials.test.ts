import { describe, expect, it } from "vitest";
import type { AgentCard, SecurityScheme } from "../protocol/index.ts";
import { Credentials } from "./credentials.ts";
import type { ClientOptions } from "./options.ts";

const URL = "http://agent.example/a2a?x=1";

function cardWith(scheme?: SecurityScheme): AgentCard {
  const card: AgentCard = {
    name: "n",
    description: "d",
    version: "1",
    supportedInterfaces: [],
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  };
  return scheme ? { ...card, securitySchemes: { key: scheme } } : card;
}

async function sentWith(options: Partial<ClientOptions>, scheme?: SecurityScheme): Promise<Request> {
  const credentials = new Credentials({ output: "text", ...options });
  credentials.useCard(cardWith(scheme));
  let sent: Request | undefined;
  const carry = credentials.carriedBy((input, init) => {
    sent = new Request(input, init);
    return Promise.resolve(new Response());
  });
  await carry(URL, { method: "POST", body: "{}", headers: { "a2a-version": "1.0" } });
  return sent as Request;
}

describe("credentials", () => {
  it("a bearer token is an Authorization header, and the rest of the request stays", async () => {
    const request = await sentWith({ bearer: "t0ken" });
    expect(request.headers.get("authorization")).toBe("Bearer t0ken");
    expect(request.headers.get("a2a-version")).toBe("1.0");
    expect({ url: request.url, method: request.method, body: await request.text() }).toEqual({
      url: URL,
      method: "POST",
      body: "{}",
    });
  });

  it("leave the signal as it is: one that hangs on a Request in between is lost with it", async () => {
    const { signal } = new AbortController();
    const seen: unknown[] = [];
    const send: typeof fetch = (_input, init) => {
      seen.push(init?.signal);
      return Promise.resolve(new Response());
    };
    for (const location of ["header", "query", "cookie"] as const) {
      const credentials = new Credentials({ output: "text", bearer: "t", apiKey: "s" });
      credentials.useCard(cardWith({ apiKeySecurityScheme: { location, name: "k" } }));
      await credentials.carriedBy(send)(URL, { signal });
    }
    expect(seen.map((one) => one === signal)).toEqual([true, true, true]);
  });

  it("an API key goes where the card wants it", async () => {
    const at = (location: "header" | "query" | "cookie") => ({
      apiKeySecurityScheme: { location, name: "k" },
    });
    expect((await sentWith({ apiKey: "s" }, at("header"))).headers.get("k")).toBe("s");
    expect((await sentWith({ apiKey: "s" }, at("cookie"))).headers.get("cookie")).toBe("k=s");
    const query = await sentWith({ apiKey: "s" }, at("query"));
    expect({ url: query.url, body: await query.text() }).toEqual({ url: `${URL}&k=s`, body: "{}" });
  });

  it("an API key is a header of the usual name when the card says nothing", async () => {
    expect((await sentWith({ apiKey: "s" })).headers.get("x-api-key")).toBe("s");
  });
});
