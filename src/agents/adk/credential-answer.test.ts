import { AuthCredentialTypes, FunctionTool, LlmAgent } from "@google/adk";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { connect } from "../../client/index.ts";
import { getText, type Part } from "../../protocol/index.ts";
import { createServer } from "../../server/index.ts";
import { adkAgent } from "./adk-agent.ts";
import { type Script, ScriptedLlm } from "./models/index.ts";

const KEY = "mine-0123456789";

const tool = new FunctionTool({
  name: "fetch_mail",
  description: "Fetches mail",
  parameters: z.object({}),
  execute: (_, context) => {
    const config = {
      authScheme: { type: "apiKey", in: "header", name: "x-key" } as const,
      credentialKey: "mail",
    };
    const credential = context?.getAuthResponse(config);
    if (credential) return { isKeyComplete: credential.apiKey === KEY };
    context?.requestCredential({ ...config, rawAuthCredential: { authType: AuthCredentialTypes.API_KEY } });
    return { pending: true };
  },
});

const script: Script = ({ results: [result] }) => {
  if (!result) return { call: "fetch_mail" };
  return (result.response as { isKeyComplete?: boolean }).isKeyComplete ? "2 mails." : "I need a key.";
};

it("the agent receives the API key of an answer, and the history of the task does not contain it", async () => {
  const model = new ScriptedLlm(script);
  const server = createServer(adkAgent(new LlmAgent({ name: "a", model, tools: [tool] })), {
    store: "memory",
    observer: false,
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen();
  const client = await connect(url);
  const asked = await client.send("mail?");
  if (!("task" in asked)) throw new Error("The agent asked no question.");
  const { id: taskId, status } = asked.task;
  expect(status.state).toBe("TASK_STATE_AUTH_REQUIRED");
  const [call] = status.message?.parts ?? [];
  if (!call || !("data" in call)) throw new Error("The question has no call.");
  const { id, name } = call.data as { id: string; name: string };
  const response = { exchangedAuthCredential: { authType: "apiKey", apiKey: KEY } };
  const part: Part = { data: { id, name, response }, metadata: { adk_type: "function_response" } };
  const message = { messageId: "answer", taskId, parts: [part] };
  const answered = await client.send(message);
  expect(answered).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
  expect(getText("task" in answered ? (answered.task.artifacts?.at(-1)?.parts ?? []) : [])).toBe("2 mails.");
  const task = await client.tasks.get(taskId);
  expect(JSON.stringify([answered, task])).not.toContain(KEY);
  expect(task.history?.some(({ messageId }) => messageId === "answer")).toBe(true);
  // The same message with the same content is one message (E10).
  expect(await client.send(message)).toMatchObject({ task: { id: taskId } });
  const other = { ...message, parts: [{ data: { id, name, response: {} } }] };
  await expect(client.send(other)).rejects.toThrow("messageId");
});
