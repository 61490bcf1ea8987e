import type { VNode } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { useHotkeys } from "../app/hotkeys.ts";
import type { DataPart, Part, Task } from "../../../protocol/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { PartList } from "../parts/part-view.tsx";
import { SchemaForm } from "../parts/schema-form.tsx";
import { findQuestions, type TaskQuestion } from "./find-questions.ts";

interface AnswerFormProps {
  readonly task: Task;
  readonly isSending: boolean;
  readonly onAnswer: (parts: readonly Part[]) => void;
}

/** Returns whether a question needs more than a text. */
export function hasAnswerForm(task: Task): boolean {
  return task.status.state === "TASK_STATE_AUTH_REQUIRED" || findQuestions(task).length > 0;
}

/** The question of a waiting task, with a form for the answer. */
export function AnswerForm({ task, isSending, onAnswer }: AnswerFormProps): VNode {
  const questions = findQuestions(task);
  const [answers, setAnswers] = useState<ReadonlyMap<string, DataPart>>(new Map());
  const isSignIn = task.status.state === "TASK_STATE_AUTH_REQUIRED";
  const section = useRef<HTMLElement>(null);
  const focusFirstField = (): void =>
    section.current?.querySelector<HTMLElement>("input, select, textarea, button.primary")?.focus();
  useHotkeys([{ keys: "a", label: "Answer the question of the agent", run: focusFirstField }]);
  const textParts = (task.status.message?.parts ?? []).filter(
    (part) => questions.length === 0 || "text" in part,
  );
  // The agent expects the answers to all its questions in one message.
  const answer = (question: TaskQuestion, part: DataPart): void => {
    const next = new Map(answers).set(question.key, part);
    if (questions.every(({ key }) => next.has(key))) {
      setAnswers(new Map());
      onAnswer(questions.flatMap(({ key }) => next.get(key) ?? []));
    } else setAnswers(next);
  };
  return (
    <section ref={section} class="answer" aria-label="Answer" data-testid="answer">
      <h2>{isSignIn ? "The agent waits for a sign-in" : "The agent waits for an answer"}</h2>
      {textParts.length > 0 && <PartList parts={textParts} />}
      {questions.map((question) => (
        <div key={question.key} class="question">
          <h3>
            <AgentText text={question.title} />
            {answers.has(question.key) && (
              <span class="badge" data-tone="good">
                ✓ answered
              </span>
            )}
          </h3>
          <QuestionForm
            question={question}
            isSending={isSending}
            onAnswer={(part) => answer(question, part)}
          />
        </div>
      ))}
      {questions.length === 0 && <TextAnswer isSignIn={isSignIn} isSending={isSending} onAnswer={onAnswer} />}
    </section>
  );
}

interface QuestionFormProps {
  readonly question: TaskQuestion;
  readonly isSending: boolean;
  readonly onAnswer: (part: DataPart) => void;
}

function QuestionForm({ question, isSending, onAnswer }: QuestionFormProps): VNode {
  if (question.kind === "form")
    return (
      <SchemaForm
        fields={question.fields}
        submitLabel="Send the answer"
        isDisabled={isSending}
        onSubmit={(value) => onAnswer(question.buildAnswer(value))}
      />
    );
  return (
    <>
      {question.input !== undefined && <JsonTree value={question.input} />}
      {question.kind === "approval" ? (
        <>
          <ApprovalForm question={question} isSending={isSending} onAnswer={onAnswer} />
          {question.buildResponse && (
            <details>
              <summary>Another response</summary>
              <FunctionResultForm build={question.buildResponse} isSending={isSending} onAnswer={onAnswer} />
            </details>
          )}
        </>
      ) : (
        <FunctionResultForm build={question.buildAnswer} isSending={isSending} onAnswer={onAnswer} />
      )}
    </>
  );
}

function ApprovalForm(props: {
  readonly question: Extract<TaskQuestion, { kind: "approval" }>;
  readonly isSending: boolean;
  readonly onAnswer: (part: DataPart) => void;
}): VNode {
  const { question, isSending, onAnswer } = props;
  const [reason, setReason] = useState("");
  const id = useId();
  return (
    <div class="approval">
      <label for={id}>Reason (optional)</label>
      <input id={id} value={reason} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
      <button
        type="button"
        class="primary"
        disabled={isSending}
        onClick={() => onAnswer(question.buildAnswer(true, reason))}
      >
        ✓ Approve
      </button>
      <button
        type="button"
        class="danger"
        disabled={isSending}
        onClick={() => onAnswer(question.buildAnswer(false, reason))}
      >
        ✕ Deny
      </button>
    </div>
  );
}

function FunctionResultForm(props: {
  readonly build: (entry: string) => DataPart;
  readonly isSending: boolean;
  readonly onAnswer: (part: DataPart) => void;
}): VNode {
  const { build, isSending, onAnswer } = props;
  const fields = [
    {
      name: "response",
      title: "Response, as text or as a JSON object",
      isRequired: true,
      input: { type: "text", htmlType: "text", isLong: true },
    },
  ] as const;
  return (
    <SchemaForm
      fields={fields}
      submitLabel="Send the response"
      isDisabled={isSending}
      onSubmit={({ response }) => onAnswer(build(typeof response === "string" ? response : ""))}
    />
  );
}

function TextAnswer(props: {
  readonly isSignIn: boolean;
  readonly isSending: boolean;
  readonly onAnswer: (parts: readonly Part[]) => void;
}): VNode {
  const { isSignIn, isSending, onAnswer } = props;
  const [text, setText] = useState(isSignIn ? "I have signed in." : "");
  const id = useId();
  const submit = (event: Event): void => {
    event.preventDefault();
    if (text.trim() !== "") onAnswer([{ text }]);
  };
  return (
    <form class="text-answer" onSubmit={submit}>
      <label for={id}>Your answer</label>
      <textarea id={id} rows={2} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      <button class="primary" disabled={isSending || text.trim() === ""}>
        Send
      </button>
    </form>
  );
}
