# The client of the guide "A2A 프로토콜 이해" (2024-12-13), unmodified.
import requests
import json
from typing import Iterator, Dict, Any

class A2AClient:
    def __init__(self, base_url: str, agent_id: str):
        self.base_url = base_url
        self.agent_id = agent_id
    
    def create_task(self, skill: str, input_data: Dict[str, Any]) -> str:
        """태스크 생성"""
        response = requests.post(
            f"{self.base_url}/a2a/{self.agent_id}",
            json={
                "jsonrpc": "2.0",
                "id": "1",
                "method": "tasks/create",
                "params": {
                    "skill": skill,
                    "input": input_data
                }
            }
        )
        
        result = response.json()["result"]
        return result["taskId"]
    
    def get_task(self, task_id: str) -> Dict[str, Any]:
        """태스크 조회"""
        response = requests.post(
            f"{self.base_url}/a2a/{self.agent_id}",
            json={
                "jsonrpc": "2.0",
                "id": "2",
                "method": "tasks/get",
                "params": {"taskId": task_id}
            }
        )
        
        return response.json()["result"]
    
    def stream_events(self, task_id: str) -> Iterator[Dict[str, Any]]:
        """SSE 이벤트 스트리밍"""
        url = f"{self.base_url}/a2a/{self.agent_id}/tasks/{task_id}/events"
        
        with requests.get(url, stream=True) as response:
            for line in response.iter_lines():
                if line.startswith(b'data:'):
                    data = json.loads(line[5:])
                    yield data
