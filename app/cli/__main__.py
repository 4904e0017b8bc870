from app.cli.entry import main

if __name__ == "__main__":  # child processes import this module, too
    main()
