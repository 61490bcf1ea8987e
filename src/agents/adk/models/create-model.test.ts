import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Gemini, type LlmResponse } from "@google/adk";
import { afterEach, describe, expect, it, vi } from "vitest";
import { AiSdkLlm } from "./ai-sdk-llm.ts";
import { createModel } from "./create-model.ts";
import { ScriptedLlm } from "./scripted-llm.ts";

afterEach(() => vi.unstubAllEnvs());

function unsetApiKeys(): void {
  for (const name of ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_API_KEY", "OPENAI_API_KEY"]) {
    vi.stubEnv(name, "");
  }
}

describe("a model by its name", () => {
  it.each(["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_API_KEY"])("is Gemini with %s", (variable) => {
    unsetApiKeys();
    vi.stubEnv(variable, "k");
    for (const provider of ["gemini", "google"]) {
      const llm = createModel(`${provider}:gemini-2.5-flash`);
      expect(llm).toBeInstanceOf(Gemini);
      expect(llm.model).toBe("gemini-2.5-flash");
    }
  });

  it.each([
    ["openai:gpt-5", { apiKey: "k" }],
    ["anthropic:claude-sonnet-4-5", { apiKey: "k" }],
    ["ollama:qwen3:8b", {}],
  ])("is the AI SDK's %s", (name, options) => {
    const llm = createModel(name, options);
    expect(llm).toBeInstanceOf(AiSdkLlm);
    expect(llm.model).toBe(name);
  });

  it.each([
    ["openai:gpt-5", "/v1/responses"],
    ["anthropic:claude-sonnet-4-5", "/v1/messages"],
    ["ollama:qwen3", "/v1/chat/completions"],
    ["openai-compatible:qwen3", "/v1/chat/completions"],
  ])("calls its provider: %s sends requests to %s", async (name, path) => {
    const requests: { url: string | undefined; body: string }[] = [];
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        requests.push({ url: request.url, body });
        response
          .writeHead(404, { "content-type": "application/json" })
          .end('{"error":{"message":"no such model"}}');
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const request = {
      contents: [{ role: "user", parts: [{ text: "hello" }] }],
      liveConnectConfig: {},
      toolsDict: {},
    };
    const options = { apiKey: "k", baseURL };
    await expect(createModel(name, options).generateContentAsync(request, true).next()).rejects.toThrow(
      '"code":404',
    );
    server.close();
    expect(requests.map(({ url }) => url)).toEqual([path]);
    expect(requests[0]?.body).toContain("hello");
  });

  it("needs no key when it is scripted", async () => {
    const llm = createModel("scripted:echo");
    expect(llm).toBeInstanceOf(ScriptedLlm);
    const contents = [{ role: "user", parts: [{ text: "hello" }] }];
    const responses: LlmResponse[] = [];
    for await (const each of llm.generateContentAsync({ contents, liveConnectConfig: {}, toolsDict: {} })) {
      responses.push(each);
    }
    expect(responses[0]?.content?.parts).toEqual([{ text: "hello" }]);
  });

  it("names the variable to set when a key is missing", () => {
    unsetApiKeys();
    expect(() => createModel("openai:gpt-5")).toThrow(/Set OPENAI_API_KEY/);
    expect(() => createModel("gemini:gemini-2.5-flash")).toThrow(/Set GEMINI_API_KEY or GOOGLE_API_KEY/);
  });

  it("names the package to install when it is missing", () => {
    expect(() => createModel("nowhere:m")).toThrow("npm install ai @ai-sdk/nowhere");
  });

  it("explains the format of a model name", () => {
    expect(() => createModel("gpt-5")).toThrow(/Use provider:model/);
  });
});
