/** The two Python analyses of the card specification, verbatim. The second one continues the first one. */
export const PYTHON_CARD_STATISTICS_SNIPPET = `import json

# 카드 파일 로드
with open("results/gsm8k_a2a_claude_cards.json") as f:
    cards = json.load(f)

# 카드 타입별 통계
from collections import Counter
card_types = Counter(card["message_type"] for card in cards)
print(card_types)
# Output: {'task': 120, 'result': 120}

# 평균 턴 수 계산
planner_to_solver = sum(1 for c in cards if c["sender"] == "planner" and c["recipient"] == "solver")
avg_turns = planner_to_solver / 200  # 200 samples
print(f"Average turns per problem: {avg_turns:.2f}")
`;

export const PYTHON_SUCCESS_RATE_SNIPPET = `# 성공/실패 비율
success_cards = [c for c in cards if c.get("metadata", {}).get("status") == "success"]
completion_cards = [c for c in cards if c.get("metadata", {}).get("status") == "completed"]

print(f"Solver success rate: {len(success_cards) / len([c for c in cards if c['message_type'] == 'result']):.2%}")
print(f"Overall completion rate: {len(completion_cards) / 200:.2%}")
`;
