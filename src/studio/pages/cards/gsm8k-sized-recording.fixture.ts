import { createScriptedRecording } from "../../../cards/recording/recording.fixture.ts";
import {
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  type ScriptedSample,
  type ScriptedCard,
} from "../../../cards/recording/scripted-samples.fixture.ts";
import type { Recording } from "../../../cards/index.ts";

/**
 * Creates a run of the size of the GSM8K test split: 1,319 problems, of which 10 have a wrong answer.
 * A problem has six cards, and four more for each additional `rounds` of two solver calls.
 */
export function createGsm8kSizedRecording(problems = 1_319, rounds = 1): Recording {
  return createScriptedRecording(
    Array.from({ length: problems }, (_, at): ScriptedSample => {
      const isWrong = at % 120 === 119;
      return {
        ...SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
        id: `gsm8k_${at}`,
        ...(isWrong && { predicted: "17" }),
        steps: repeatScriptedCardRounds(rounds).map((step, place) => ({
          ...step,
          // Contents and times vary, as in a real run.
          content:
            place === 0
              ? `Problem ${at}: ${RECORDING_FIXTURE_QUESTIONS[at % RECORDING_FIXTURE_QUESTIONS.length]}`
              : step.content,
          ...(step.workMs !== undefined && { workMs: step.workMs + ((at * 37 + place * 101) % 400) }),
        })),
      };
    }),
    { run_id: "gsm8k-whole" },
  );
}

function repeatScriptedCardRounds(rounds: number): ScriptedCard[] {
  const [first, ...rest] = SCRIPTED_SEQUENTIAL_TASKS_SAMPLE.steps;
  const last = rest.pop();
  const middle = Array.from({ length: rounds }, (_, round) =>
    rest.map((step) => ({
      ...step,
      ...(step.name !== undefined && { name: `${step.name}.${round}` }),
      ...(step.inReplyTo !== undefined && {
        inReplyTo: step.inReplyTo === "q" ? "q" : `${step.inReplyTo}.${round}`,
      }),
    })),
  );
  return [...(first ? [first] : []), ...middle.flat(), ...(last ? [last] : [])];
}

const RECORDING_FIXTURE_QUESTIONS = [
  "Janet’s ducks lay 16 eggs per day. She eats three for breakfast and bakes muffins with four. She sells the rest for $2 each. How much does she make every day?",
  "A robe takes 2 bolts of blue fiber and half that much white fiber. How many bolts in total does it take?",
  "민수는 사과 12개를 가지고 있고 친구 3명에게 똑같이 나누어 줍니다. 한 명이 받는 사과는 몇 개입니까?",
  "Josh buys a house for $80,000 and puts in $50,000 of repairs; its value rises by 150 %. What is his profit?",
];
