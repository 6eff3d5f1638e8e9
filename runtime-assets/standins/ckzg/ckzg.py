"""A stand-in for ckzg, the cryptography of Ethereum's blob transactions, which is native code.

eth-account imports it for every kind of transaction and uses it for blobs only.
"""


def _missing(name):
    def function(*args, **kwargs):
        raise NotImplementedError(
            f"not available in a skillcell cell: ckzg.{name} is native code; blob transactions need another tier"
        )

    function.__name__ = name
    return function


for _name in (
    "blob_to_kzg_commitment",
    "compute_blob_kzg_proof",
    "compute_cells",
    "compute_cells_and_kzg_proofs",
    "compute_kzg_proof",
    "load_trusted_setup",
    "recover_cells_and_kzg_proofs",
    "verify_blob_kzg_proof",
    "verify_blob_kzg_proof_batch",
    "verify_cell_kzg_proof_batch",
    "verify_kzg_proof",
):
    globals()[_name] = _missing(_name)
