/**
 * Offers agents as models to chat clients of the OpenAI API. This example uses the official OpenAI client,
 * and other chat clients work in the same way. On the command line, run `colloquy serve agent.ts --openai`.
 *
 *     node examples/17-openai-facade.ts
 */
import { agent, createServer, inputRequired } from "colloquy";
import { createOpenAiFacade } from "colloquy/openai";
import OpenAI from "openai";

const baker = agent(
  { name: "baker", description: "Bakes cakes to order" },
  async function* ({ text, history }) {
    if (history.length === 1) yield inputRequired(`A ${text}, gladly. Which size?`);
    for (const word of ["Here ", "is ", "your ", `${text} cake.`]) yield word;
  },
);

const server = createServer({ baker }, { store: "memory", mountedHandlers: [createOpenAiFacade()] });
const { url } = await server.listen();
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" });
for await (const model of client.models.list()) console.log(`model: ${model.id}`);

// The task waits for an answer. The façade finds the task by the messages of the conversation.
const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [];
for (const content of ["birthday cake", "large"]) {
  messages.push({ role: "user", content });
  const stream = client.chat.completions.stream({ model: "baker", messages });
  for await (const { choices } of stream) process.stdout.write(choices[0]?.delta.content ?? "");
  messages.push({ role: "assistant", content: await stream.finalContent() });
  process.stdout.write("\n");
}
await server.close();
