from eth_account import Account
from skillware.core.base_skill import BaseSkill
from web3 import Web3

KEY = "0x" + "11" * 32
TRANSACTION = {
    "to": "0x" + "22" * 20, "value": 1, "gas": 21000, "maxFeePerGas": 10, "maxPriorityFeePerGas": 1, "nonce": 0, "chainId": 1,
}


class Wallet(BaseSkill):
    """What the registry's skills for Ethereum do, with a node that the test plays."""

    manifest = {}

    def execute(self, params):
        w3 = Web3(Web3.HTTPProvider(params["url"]))
        account = Account.from_key(KEY)
        signed = account.sign_transaction(TRANSACTION)
        abi = [{"name": "decimals", "type": "function", "inputs": [], "outputs": [{"type": "uint8", "name": ""}], "stateMutability": "view"}]
        token = w3.eth.contract(address=Web3.to_checksum_address("0x" + "ab" * 20), abi=abi)
        try:
            account.encrypt("password")
            slow = None
        except NotImplementedError as error:
            slow = str(error)
        return {
            "address": account.address,
            "signed": signed.raw_transaction.hex(),
            "recovered": Account.recover_transaction(signed.raw_transaction),
            "token": token.address,
            "chain": w3.eth.chain_id,
            "balance": w3.eth.get_balance(account.address),
            "decimals": token.functions.decimals().call(),
            "sent": w3.eth.send_raw_transaction(signed.raw_transaction).hex(),
            "slow": slow,
        }
